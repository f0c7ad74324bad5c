//! Finds the functions that the tests call, from the syntax tree. A name in a comment, a string or
//! an import does not count as a call.

use crate::common::documents::sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Expr, Token};

/// The calls in the body of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    /// The last two segments of paths that are called or used as values, such as `limit_rate` and
    /// `Occupancy::standard`.
    paths: BTreeSet<(String, String)>,
    /// Names of methods that are called.
    methods: BTreeSet<String>,
    /// Names of types that are mentioned.
    types: BTreeSet<String>,
}

impl Calls {
    /// Whether the function with this name is called. Accepted forms are `function`,
    /// `module::function`, `Type::function`, `Type::method` or `Enum::Variant`.
    ///
    /// A method counts as called on a type if its name is called and the type is named in the same
    /// function. A variant that stands for a formula counts as called if it is named and a method
    /// `value` is called.
    pub(crate) fn has(&self, function: &str) -> bool {
        let Some((owner, name)) = function.split_once("::") else {
            return self.paths.iter().any(|(_, last)| last == function);
        };
        if owner.starts_with(char::is_lowercase) {
            return self.paths.iter().any(|(module, last)| last == name && (module == owner || module.is_empty()));
        }
        let path = |last: &str| self.paths.contains(&(owner.to_owned(), last.to_owned()));
        if name.starts_with(char::is_uppercase) {
            return (path(name) || path("ALL")) && self.methods.contains("value");
        }
        // A law is anything that has a rate.
        let is_named = owner == "Law" || self.types.contains(owner) || self.paths.iter().any(|(first, _)| first == owner);
        path(name) || self.methods.contains(name) && is_named
    }

    fn add(&mut self, other: &Calls) {
        self.paths.extend(other.paths.iter().cloned());
        self.methods.extend(other.methods.iter().cloned());
        self.types.extend(other.types.iter().cloned());
    }
}

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let mut parts = path.path.segments.iter().rev().map(|part| part.ident.to_string());
        if let Some(last) = parts.next() {
            self.paths.insert((parts.next().unwrap_or_default(), last));
        }
        visit::visit_expr_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.methods.insert(call.method.to_string());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        self.types.extend(path.path.segments.last().map(|part| part.ident.to_string()));
        visit::visit_type_path(self, path);
    }

    /// Visits the arguments of macros such as `assert!`: they are expressions, and the last one may
    /// be a message.
    fn visit_macro(&mut self, found: &'ast syn::Macro) {
        if let Ok(parts) = found.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
            parts.iter().for_each(|part| self.visit_expr(part));
        }
    }
}

/// The functions and methods of a file, each with the calls in its own body.
fn functions(text: &str) -> BTreeMap<String, Calls> {
    #[derive(Default)]
    struct Found(BTreeMap<String, Calls>);
    impl Found {
        fn put(&mut self, signature: &syn::Signature, block: &syn::Block) {
            let mut calls = Calls::default();
            calls.visit_signature(signature);
            calls.visit_block(block);
            self.0.entry(signature.ident.to_string()).or_default().add(&calls);
        }
    }
    impl<'ast> Visit<'ast> for Found {
        fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
            self.put(&item.sig, &item.block);
        }

        fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
            self.put(&item.sig, &item.block);
        }
    }
    let mut found = Found::default();
    found.visit_file(&syn::parse_file(text).expect("Rust"));
    found.0
}

static ALL: LazyLock<BTreeMap<String, Calls>> = LazyLock::new(read);

/// The calls of each function of the integration tests, including the calls of its helpers in the
/// same file and in `common`. The keys are `file::function` or `folder::file::function`.
pub(crate) fn calls_of_tests() -> &'static BTreeMap<String, Calls> {
    &ALL
}

fn read() -> BTreeMap<String, Calls> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let files: Vec<(String, BTreeMap<String, Calls>)> = sources("tests")
        .into_iter()
        .map(|(path, text)| {
            let name = path.strip_prefix(&root).expect("below").with_extension("");
            (name.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("::"), functions(&text))
        })
        .collect();
    let mut shared: BTreeMap<String, Calls> = BTreeMap::new();
    for (_, functions) in files.iter().filter(|(name, _)| name.starts_with("common::")) {
        functions.iter().for_each(|(name, calls)| shared.entry(name.clone()).or_default().add(calls));
    }
    let mut all = BTreeMap::new();
    for (file, functions) in &files {
        for name in functions.keys() {
            let (mut calls, mut met, mut open) = (Calls::default(), BTreeSet::new(), vec![name.clone()]);
            while let Some(name) = open.pop() {
                if !met.insert(name.clone()) {
                    continue;
                }
                for own in [functions.get(&name), shared.get(&name)].into_iter().flatten() {
                    calls.add(own);
                    open.extend(own.paths.iter().map(|(_, last)| last.clone()).chain(own.methods.iter().cloned()));
                }
            }
            all.insert(format!("{file}::{name}"), calls);
        }
    }
    all
}
