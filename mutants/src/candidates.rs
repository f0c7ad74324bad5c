//! Finds every place in a source file where a fault can be planted without changing a type.

use proc_macro2::{Delimiter, TokenTree};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Lit, RangeLimits, Stmt, UnOp};

/// How a fault changes the text at its place.
#[derive(Clone)]
pub enum Form {
    /// The expression is replaced by another expression.
    Replace(String),
    /// The condition is never true. A condition that contains `let` cannot be put in parentheses.
    Never { has_let: bool },
    /// The statement is left out.
    Skip,
}

#[derive(Clone)]
pub struct Candidate {
    pub place: Range<usize>,
    pub line: usize,
    pub form: Form,
    pub label: String,
}

/// The candidates of a file, in the order of its text.
pub fn find(source: &str) -> syn::Result<Vec<Candidate>> {
    let file = syn::parse_file(source)?;
    let mut finder = Finder { source, found: Vec::new() };
    finder.visit_file(&file);
    Ok(finder.found)
}

struct Finder<'a> {
    source: &'a str,
    found: Vec<Candidate>,
}

impl Finder<'_> {
    fn text(&self, node: &impl Spanned) -> &str {
        &self.source[node.span().byte_range()]
    }

    fn add(&mut self, node: &impl Spanned, form: Form, label: String) {
        let span = node.span();
        let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
        self.found.push(Candidate { place: span.byte_range(), line: span.start().line, form, label });
    }

    fn replace(&mut self, node: &impl Spanned, by: String) {
        let label = format!("`{}` becomes `{by}`", self.text(node));
        self.add(node, Form::Replace(by), label);
    }

    fn binary(&mut self, node: &syn::ExprBinary) {
        for operator in other_operators(&node.op) {
            let by = format!("({}) {operator} ({})", self.text(&node.left), self.text(&node.right));
            // The left side of a compound assignment is a place, so it needs no parentheses.
            let by = if operator.len() > 1 && operator.ends_with('=') && is_assignment(&node.op) {
                format!("{} {operator} {}", self.text(&node.left), self.text(&node.right))
            } else {
                by
            };
            self.replace(node, by);
        }
    }

    fn method(&mut self, node: &syn::ExprMethodCall) {
        let name = node.method.to_string();
        let (receiver, arguments) = (self.text(&node.receiver).to_owned(), self.text_of_arguments(node));
        if let Some(other) = other_method(&name, node.args.len()) {
            self.replace(node, format!("{receiver}.{other}({arguments})"));
        } else if name == "div_ceil" {
            self.replace(node, format!("({receiver}) / ({arguments})"));
        } else if name == "abs" {
            self.replace(node, receiver);
        }
    }

    fn text_of_arguments(&self, node: &syn::ExprMethodCall) -> String {
        node.args.iter().map(|argument| self.text(argument).to_owned()).collect::<Vec<_>>().join(", ")
    }

    fn literal(&mut self, node: &syn::ExprLit) {
        match &node.lit {
            Lit::Int(number) => {
                if let Ok(n) = number.base10_parse::<u128>()
                    && n < u128::MAX
                {
                    self.replace(node, format!("{}{}", n + 1, number.suffix()));
                }
            }
            Lit::Float(number) => match number.base10_parse::<f64>() {
                Ok(0.0) => self.replace(node, "1.0".to_owned()),
                Ok(_) => self.replace(node, format!("{number} * 0.5")),
                Err(_) => {}
            },
            Lit::Bool(value) => self.replace(node, (!value.value).to_string()),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_expr(&mut self, node: &'ast Expr) {
        match node {
            Expr::Binary(node) if !has_let(&node.left) && !has_let(&node.right) => self.binary(node),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) => {
                let by = format!("({})", self.text(&unary.expr));
                self.replace(unary, by);
            }
            Expr::MethodCall(node) => self.method(node),
            Expr::Lit(node) => self.literal(node),
            Expr::Field(field) => {
                if let syn::Member::Named(name) = &field.member
                    && let Some(other) = other_end(&name.to_string())
                {
                    let by = format!("{}.{other}", self.text(&field.base));
                    self.replace(field, by);
                }
            }
            Expr::Range(range) => {
                if let (Some(end), RangeLimits::HalfOpen(_)) = (&range.end, &range.limits) {
                    let by = format!("({}) + 1", self.text(end));
                    self.replace(end, by);
                }
            }
            _ => {}
        }
        visit::visit_expr(self, node);
    }

    fn visit_expr_if(&mut self, node: &'ast syn::ExprIf) {
        if node.else_branch.is_none() {
            let label = format!("never: `if {}`", self.text(&node.cond));
            self.add(&node.cond, Form::Never { has_let: has_let(&node.cond) }, label);
        }
        visit::visit_expr_if(self, node);
    }

    fn visit_stmt(&mut self, node: &'ast Stmt) {
        if let Stmt::Expr(expression @ (Expr::Call(_) | Expr::MethodCall(_) | Expr::Try(_)), Some(_)) = node {
            let label = format!("left out: `{}`", self.text(expression));
            self.add(expression, Form::Skip, label);
        }
        visit::visit_stmt(self, node);
    }

    /// Only one macro is searched for places: `for_every_level`, which makes a function for each
    /// level of processor instructions.
    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        if node.path.is_ident("for_every_level")
            && let Some(TokenTree::Group(body)) = node.tokens.clone().into_iter().last()
            && body.delimiter() == Delimiter::Brace
            && let Ok(block) = syn::parse2::<syn::Block>(TokenTree::Group(body).into())
        {
            // The finder keeps no reference to the nodes, so they need not outlive this call.
            Finder::visit_block(self, &block);
        }
    }

    // The left side of an assignment must stay a place, so it is not changed.
    fn visit_expr_assign(&mut self, node: &'ast syn::ExprAssign) {
        self.visit_expr(&node.right);
    }

    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        if !is_assignment(&node.op) {
            self.visit_expr(&node.left);
        }
        self.visit_expr(&node.right);
    }

    fn visit_expr_reference(&mut self, node: &'ast syn::ExprReference) {
        if node.mutability.is_none() || !matches!(*node.expr, Expr::Field(_)) {
            visit::visit_expr_reference(self, node);
        }
    }

    // Constant expressions are skipped, because the compiler evaluates them and cannot read the
    // environment variable.
    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        self.visit_expr(&node.expr);
    }
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        if node.sig.constness.is_none() && is_built(&node.attrs) {
            visit::visit_item_fn(self, node);
        }
    }
    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        if node.sig.constness.is_none() && is_built(&node.attrs) {
            visit::visit_impl_item_fn(self, node);
        }
    }
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if is_built(&node.attrs) {
            visit::visit_item_mod(self, node);
        }
    }
    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        if is_built(&node.attrs) {
            visit::visit_item_impl(self, node);
        }
    }
    fn visit_local(&mut self, node: &'ast syn::Local) {
        if is_built(&node.attrs) {
            visit::visit_local(self, node);
        }
    }
    fn visit_expr_block(&mut self, node: &'ast syn::ExprBlock) {
        if is_built(&node.attrs) {
            visit::visit_expr_block(self, node);
        }
    }
}

/// Whether an item with these attributes is part of a normal build on this machine. Tests, code for
/// loom, and code for other processors and systems are not.
fn is_built(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().all(|attribute| match &attribute.meta {
        syn::Meta::List(list) if attribute.path().is_ident("cfg") => {
            let condition: String = list.tokens.to_string().split_whitespace().collect();
            !["test", "loom", "not(target_arch", "not(unix"].iter().any(|word| condition.contains(word)) || condition.contains("not(test")
        }
        _ => !attribute.path().is_ident("test"),
    })
}

fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(node) => has_let(&node.left) || has_let(&node.right),
        _ => false,
    }
}

fn is_assignment(operator: &BinOp) -> bool {
    use BinOp::*;
    matches!(
        operator,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitXorAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}

/// Other operators for operands of the same types.
fn other_operators(operator: &BinOp) -> &'static [&'static str] {
    match operator {
        BinOp::Add(_) => &["-", "*"],
        BinOp::Sub(_) => &["+", "/"],
        BinOp::Mul(_) => &["+", "/"],
        BinOp::Div(_) => &["*", "%"],
        BinOp::Rem(_) => &["/", "*"],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::BitXor(_) => &["|", "&"],
        BinOp::BitAnd(_) => &["|"],
        BinOp::BitOr(_) => &["&"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::Lt(_) => &["<=", ">="],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Gt(_) => &[">=", "<="],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::AddAssign(_) => &["-="],
        BinOp::SubAssign(_) => &["+="],
        BinOp::MulAssign(_) => &["/="],
        BinOp::DivAssign(_) => &["*="],
        BinOp::RemAssign(_) => &["/="],
        BinOp::BitXorAssign(_) => &["|="],
        BinOp::BitAndAssign(_) => &["|="],
        BinOp::BitOrAssign(_) => &["&="],
        BinOp::ShlAssign(_) => &[">>="],
        BinOp::ShrAssign(_) => &["<<="],
        _ => &[],
    }
}

fn other_method(name: &str, arguments: usize) -> Option<&'static str> {
    Some(match (name, arguments) {
        ("next_up", 0) => "next_down",
        ("next_down", 0) => "next_up",
        ("ceil", 0) => "floor",
        ("floor" | "round", 0) => "ceil",
        ("min", 1) => "max",
        ("max", 1) => "min",
        ("wrapping_add" | "saturating_sub", 1) => "wrapping_sub",
        ("wrapping_sub" | "saturating_add", 1) => "wrapping_add",
        ("saturating_mul", 1) => "wrapping_mul",
        ("rotate_left", 1) => "rotate_right",
        ("leading_zeros", 0) => "trailing_zeros",
        ("trailing_zeros", 0) => "leading_zeros",
        ("is_some", 0) => "is_none",
        ("is_none", 0) => "is_some",
        ("is_ok", 0) => "is_err",
        ("is_err", 0) => "is_ok",
        ("all", 1) => "any",
        ("any", 1) => "all",
        ("first", 0) => "last",
        ("last", 0) => "first",
        _ => return None,
    })
}

/// The name of the other end of a bracket (a lower and an upper bound).
fn other_end(name: &str) -> Option<&'static str> {
    Some(match name {
        "lower" => "upper",
        "upper" => "lower",
        "low" => "high",
        "high" => "low",
        _ => return None,
    })
}
