//! The macro `#[derive(Key)]` of the crate `truebloom`. With its feature `derive`, `truebloom`
//! exports this macro.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DataEnum, DeriveInput, Error, Expr, Field, Fields, GenericParam, Generics, Index, Member, Path, Result, Variant,
    parse_quote,
};

/// Implements `Key` for a struct or an enum. The key has the same bytes on every platform;
/// docs/FORMAT.md defines them.
///
/// * A struct with one field has the same key as that field. For example, a value of
///   `struct Url(String)` has the same key as its string.
/// * The key of a struct with several fields consists of all its fields, in the order of
///   declaration.
/// * The key of an enum consists of the discriminant, as a number, followed by the fields of the
///   variant. As usual in Rust, the first discriminant is 0, and each further discriminant is one
///   higher than the one before, unless the enum gives a number (`Deleted = 7`). Add new variants
///   at the end: the keys of a variant change if its discriminant changes.
/// * `#[key(skip)]` before a field leaves this field out of the key. Two values that differ only in
///   such fields have the same key.
/// * `#[key(crate = path)]` before the type gives the path of the crate `truebloom`. You need this
///   attribute if you renamed the crate, or if you use it through another crate that re-exports it
///   (`mine::truebloom`).
///
/// The type of every field must implement `Key`, except for skipped fields. Every type parameter
/// gets the bound `Key`. A discriminant must fit into 64 bits, signed or unsigned.
#[proc_macro_derive(Key, attributes(key))]
pub fn derive_key(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    implement(input).unwrap_or_else(Error::into_compile_error).into()
}

fn implement(input: DeriveInput) -> Result<TokenStream> {
    let root = crate_of(&input.attrs)?;
    let methods = match &input.data {
        Data::Struct(data) => of_struct(&data.fields, &root)?,
        Data::Enum(data) => of_enum(data, &discriminant_type(&input.attrs)?, &root)?,
        Data::Union(data) => return Err(Error::new(data.union_token.span(), "a union cannot be a key: nothing says which field is there")),
    };
    let name = &input.ident;
    let generics = with_bounds(input.generics, &root);
    let (generics, arguments, conditions) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #generics #root::Key for #name #arguments #conditions {
            #methods
        }
    })
}

fn with_bounds(mut generics: Generics, root: &Path) -> Generics {
    for parameter in &mut generics.params {
        if let GenericParam::Type(parameter) = parameter {
            parameter.bounds.push(parse_quote!(#root::Key));
        }
    }
    generics
}

fn of_struct(fields: &Fields, root: &Path) -> Result<TokenStream> {
    let kept = kept(fields)?;
    let members: Vec<Member> = kept.iter().map(|(member, _)| member.clone()).collect();
    let writes = kept.iter().map(|(member, field)| write_field(field, &quote!(&self.#member), root));
    let write = quote! {
        #[inline]
        fn write_key(&self, to: &mut #root::KeyWriter<'_>) {
            #(#writes)*
            let _ = to;
        }
    };
    // A struct with one field returns the `key_number` and `key_bytes` of that field.
    let of_one = match members.as_slice() {
        [only] => quote! {
            #[inline(always)]
            fn key_number(&self) -> ::core::option::Option<u64> {
                #root::Key::key_number(&self.#only)
            }

            #[inline(always)]
            fn key_bytes(&self) -> ::core::option::Option<&[u8]> {
                #root::Key::key_bytes(&self.#only)
            }
        },
        _ => TokenStream::new(),
    };
    Ok(quote!(#write #of_one))
}

fn of_enum(data: &DataEnum, discriminant: &TokenStream, root: &Path) -> Result<TokenStream> {
    if data.variants.is_empty() {
        return Err(Error::new(data.enum_token.span(), "an enum without variants has no values, so no keys"));
    }
    let numbers = numbers(&data.variants, discriminant)?;
    let arms = data.variants.iter().zip(&numbers).map(|(variant, number)| arm(variant, number, root)).collect::<Result<Vec<_>>>()?;
    let write = quote! {
        #[inline]
        fn write_key(&self, to: &mut #root::KeyWriter<'_>) {
            match self {
                #(#arms)*
            }
        }
    };
    // If no variant has fields, the key is only the discriminant.
    let is_number = data.variants.iter().all(|variant| variant.fields.is_empty());
    let variants = data.variants.iter().map(|variant| &variant.ident);
    let number = is_number.then(|| {
        quote! {
            #[inline(always)]
            fn key_number(&self) -> ::core::option::Option<u64> {
                ::core::option::Option::Some(match self {
                    #(Self::#variants { .. } => #numbers,)*
                })
            }
        }
    });
    Ok(quote!(#write #number))
}

/// The discriminant of each variant, sign-extended to 64 bits: the explicit one, or one more than
/// the previous variant's.
fn numbers(variants: &Punctuated<Variant, syn::Token![,]>, discriminant: &TokenStream) -> Result<Vec<TokenStream>> {
    let mut given: Option<&Expr> = None;
    let mut after = 0u64;
    let mut numbers = Vec::new();
    for variant in variants {
        refuse_attributes(&variant.attrs)?;
        if let Some((_, number)) = &variant.discriminant {
            (given, after) = (Some(number), 0);
        }
        numbers.push(match given {
            Some(number) => quote!(const {
                let __given: #discriminant = #number;
                let __wide = __given as i128;
                assert!(__wide >= i64::MIN as i128 && __wide <= u64::MAX as i128, "the discriminant of a key must fit into 64 bits");
                (__given as u64).wrapping_add(#after)
            }),
            None => quote!(#after),
        });
        after += 1;
    }
    Ok(numbers)
}

/// The code that writes one variant.
fn arm(variant: &Variant, number: &TokenStream, root: &Path) -> Result<TokenStream> {
    let name = &variant.ident;
    let kept = kept(&variant.fields)?;
    let members = kept.iter().map(|(member, _)| member);
    let names: Vec<_> = (0..kept.len()).map(|i| format_ident!("field_{i}")).collect();
    let writes = kept.iter().zip(&names).map(|((_, field), name)| write_field(field, &name.to_token_stream(), root));
    Ok(quote! {
        Self::#name { #(#members: #names,)* .. } => {
            to.number(#number);
            #(#writes)*
        }
    })
}

/// The code that writes a field. If its type is not a key, the error points at the type.
fn write_field(field: &Field, value: &TokenStream, root: &Path) -> TokenStream {
    let kind = &field.ty;
    quote_spanned!(kind.span()=> <#kind as #root::Key>::write_key(#value, to);)
}

/// The fields that are part of the key.
fn kept(fields: &Fields) -> Result<Vec<(Member, &Field)>> {
    let mut kept = Vec::new();
    for (i, field) in fields.iter().enumerate() {
        if !is_skipped(field)? {
            let member = field.ident.clone().map_or_else(|| Member::Unnamed(Index::from(i)), Member::Named);
            kept.push((member, field));
        }
    }
    Ok(kept)
}

/// Whether the field has `#[key(skip)]`.
fn is_skipped(field: &Field) -> Result<bool> {
    let mut is_skipped = false;
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("key")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("skip") {
                return Err(meta.error("`#[key(skip)]` is the only one there is: it leaves the field out"));
            }
            is_skipped = true;
            Ok(())
        })?;
    }
    Ok(is_skipped)
}

/// The path of the crate: the one in `#[key(crate = path)]` before the type, or `::truebloom`.
fn crate_of(attributes: &[Attribute]) -> Result<Path> {
    let mut root = parse_quote!(::truebloom);
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("key")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("only `#[key(crate = path)]` belongs before a type; `#[key(skip)]` belongs before a field"));
            }
            root = meta.value()?.call(Path::parse_mod_style)?;
            Ok(())
        })?;
    }
    Ok(root)
}

/// Returns an error for attributes of this derive on variants, because ignoring an attribute that
/// was meant for a field would change the key.
fn refuse_attributes(attributes: &[Attribute]) -> Result<()> {
    match attributes.iter().find(|attribute| attribute.path().is_ident("key")) {
        Some(attribute) => Err(Error::new(attribute.span(), "`#[key(..)]` belongs before a field")),
        None => Ok(()),
    }
}

/// The type of the discriminants: the one in `#[repr(..)]`, or `isize`.
fn discriminant_type(attributes: &[Attribute]) -> Result<TokenStream> {
    const TYPES: [&str; 12] = ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
    let mut found = quote!(isize);
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            if TYPES.iter().any(|name| meta.path.is_ident(name)) {
                found = meta.path.to_token_stream();
            } else if meta.input.peek(syn::token::Paren) {
                // An argument such as `align(8)` is skipped.
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    Ok(found)
}
