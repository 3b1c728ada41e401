//! A definition as the argument of a generic output: `Book` in `Page<Book>`.
//!
//! Concrete code finds out by method resolution whether a type has a `#[validate]` block. Generic code cannot, so the
//! definition computes it in a constant of its own type. Constants in types may not name type parameters: for a generic
//! definition they are filled in, with types that have the traits which the parameters need.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{DeriveInput, GenericParam, Generics, TypeParam, TypeParamBound, WherePredicate};

/// Traits of `String` and of `u8`, by name.
const OF_BOTH: [&str; 22] = [
    "Sized",
    "Send",
    "Sync",
    "Unpin",
    "UnwindSafe",
    "RefUnwindSafe",
    "Debug",
    "Display",
    "Clone",
    "Default",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "Hash",
    "ToString",
    "FromStr",
    "Serialize",
    "Deserialize",
    "DeserializeOwned",
    "JsonSchema",
    "LlmOutput",
];

pub(super) fn emit(input: &DeriveInput, private: &Ident) -> TokenStream {
    let ident = &input.ident;
    let (_, ty_generics, where_clause) = input.generics.split_for_impl();
    let params = parameters(&input.generics);
    let bounds = where_clause.map(|clause| clause.predicates.iter()).into_iter().flatten();
    let like = alike(&input.generics).into_iter().map(|arguments| quote!(#ident #arguments));
    generated!(#private::impl_validate_all!(#ident #ty_generics, [#(#params,)*] [#(#bounds,)*] #(#like),*);)
}

/// Without defaults, which an impl does not have.
fn parameters(generics: &Generics) -> Vec<TokenStream> {
    let parameter = |parameter: &GenericParam| match parameter.clone() {
        GenericParam::Type(mut parameter) => {
            parameter.default = None;
            parameter.into_token_stream()
        }
        GenericParam::Const(mut parameter) => {
            parameter.default = None;
            parameter.into_token_stream()
        }
        lifetime @ GenericParam::Lifetime(_) => lifetime.into_token_stream(),
    };
    generics.params.iter().map(parameter).collect()
}

/// Arguments for the parameters; none if they need traits that are not known here.
fn alike(generics: &Generics) -> Vec<Option<TokenStream>> {
    if generics.params.is_empty() {
        return vec![None];
    }
    let copied = bounds(generics).any(|bound| is_named(bound, &["Copy"]));
    if !bounds(generics).all(|bound| is_named(bound, &OF_BOTH) || is_named(bound, &["Copy"])) {
        return vec![];
    }
    let of = |ty: TokenStream| {
        let arguments = generics.params.iter().map(|parameter| match parameter {
            GenericParam::Lifetime(_) => Some(quote!('static)),
            GenericParam::Type(_) => Some(ty.clone()),
            GenericParam::Const(parameter) => match parameter.ty.to_token_stream().to_string().as_str() {
                "bool" => Some(quote!(true)),
                "char" => Some(quote!('a')),
                _ => Some(quote!(1)),
            },
        });
        arguments.collect::<Option<Vec<_>>>().map(|arguments| quote!(<#(#arguments),*>))
    };
    let is_typed = generics.type_params().next().is_some();
    let text = (is_typed && !copied).then(|| of(quote!(::std::string::String)));
    text.into_iter().chain([of(quote!(::core::primitive::u8))]).collect()
}

fn bounds(generics: &Generics) -> impl Iterator<Item = &TypeParamBound> {
    let of_clause = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let of_clause = of_clause.flat_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => Some(predicate.bounds.iter()).into_iter().flatten(),
        _ => None.into_iter().flatten(),
    });
    generics.type_params().flat_map(|TypeParam { bounds, .. }| bounds).chain(of_clause)
}

fn is_named(bound: &TypeParamBound, names: &[&str]) -> bool {
    match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
        }
        TypeParamBound::Lifetime(_) => true,
        _ => false,
    }
}
