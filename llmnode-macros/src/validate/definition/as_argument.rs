//! A definition as the argument of a generic output: `Book` in `Page<Book>`.
//!
//! Concrete code finds out by method resolution whether a type has a `#[validate]`
//! block. Generic code cannot, so the definition computes it in a constant of its
//! own type. Constants in types may not name type parameters: for a generic
//! definition they are filled in, with types that have the traits which the
//! parameters need. If one is a trait of the program, method resolution finds the
//! block in the body, where the parameters have their bounds; then the definition
//! says which state the block takes.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    DeriveInput, GenericParam, Generics, Type, TypeParam, TypeParamBound, WherePredicate,
    parse_quote,
};

use crate::diagnostics::attribute_span;
use crate::generics::{fresh, fresh_lifetime, with_named_lifetimes};

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

/// By the runtime's macro for what can be filled in, by method resolution
/// otherwise.
pub(super) fn emit(input: &DeriveInput, private: &Ident, state: Option<&Type>) -> TokenStream {
    let ident = &input.ident;
    let like = alike(&input.generics);
    if like.is_empty() {
        return by_resolution(input, private, state);
    }
    let (_, ty_generics, where_clause) = input.generics.split_for_impl();
    let params = parameters(&input.generics);
    let bounds = where_clause
        .map(|clause| clause.predicates.iter())
        .into_iter()
        .flatten();
    let like = like.into_iter().map(|arguments| quote!(#ident #arguments));
    generated! {
        #private::impl_validate_all!(
            #ident #ty_generics, [#(#params,)*] [#(#bounds,)*] #(#like),*
        );
    }
}

/// Whether the definition knows of a block: it does not if the block is for some of
/// the type's arguments alone. `None` of a type without parameters, which has one
/// block.
pub(super) fn sees_block(input: &DeriveInput, private: &Ident) -> Option<TokenStream> {
    input.generics.type_params().next()?;
    let ident = &input.ident;
    let like = alike(&input.generics)
        .into_iter()
        .map(|arguments| quote!(#ident #arguments));
    let itself = like.clone().next().is_none().then(|| quote!(Self));
    let like = like
        .chain(itself)
        .map(|ty| generated!(<#private::CoverageProbe<#ty>>::IN_BLOCK));
    Some(generated! {
        const SEES_BLOCK: ::core::primitive::bool = {
            use #private::probes::*;
            #(#like)||*
        };
    })
}

/// The compiler asks at the attribute for a state that the block takes and the
/// definition does not name. In the body, where bounds are known.
fn by_resolution(input: &DeriveInput, private: &Ident, state: Option<&Type>) -> TokenStream {
    let ident = &input.ident;
    let mut generics = input.generics.clone();
    let named = state.map(|state| with_named_lifetimes(state, &mut generics).into_token_stream());
    let walk = if named.is_some() {
        "__walk"
    } else {
        "__walk_without_state"
    };
    let walk = Ident::new(walk, attribute_span(ident));
    let state = named.unwrap_or_else(|| any_state(&mut generics));
    // Without them, resolution would find nothing in the type.
    let fields = quote!(#private::ValidatedFields + #private::ValidateFields<#state>);
    generics
        .make_where_clause()
        .predicates
        .push(parse_quote!(Self: #fields + ::core::marker::Sync));
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (_, ty_generics, _) = input.generics.split_for_impl();
    let lifetime = fresh_lifetime("'checked", &generics);
    generated! {
        #[automatically_derived]
        impl #impl_generics #private::ValidateAll<#state> for #ident #ty_generics #where_clause {
            fn all<#lifetime>(&#lifetime self, __to: &mut #private::Checks<#lifetime, #state>) {
                use #private::probes::*;
                (&&&#private::Traverse(self)).#walk::<#state>(__to);
            }
        }
    }
}

/// A parameter for the state of any run.
pub(super) fn any_state(generics: &mut Generics) -> TokenStream {
    let any_state = fresh("AnyRunState", generics);
    generics
        .params
        .push(parse_quote!(#any_state: ?::core::marker::Sized + ::core::marker::Sync));
    any_state.into_token_stream()
}

/// Without defaults, which an impl does not have.
/// As they stand in an impl.
fn parameters(generics: &Generics) -> Vec<TokenStream> {
    let mut parameters = vec![];
    for mut parameter in generics.params.iter().cloned() {
        match &mut parameter {
            GenericParam::Type(parameter) => parameter.default = None,
            GenericParam::Const(parameter) => parameter.default = None,
            GenericParam::Lifetime(_) => {}
        }
        parameters.push(parameter.into_token_stream());
    }
    parameters
}

/// Arguments for the parameters; none if they need traits that are not known here.
/// One list of arguments with `String` and one with `u8`: between them they have
/// the traits that parameters mostly need. `u8` alone is `Copy`.
pub(crate) fn alike(generics: &Generics) -> Vec<Option<TokenStream>> {
    if generics.params.is_empty() {
        return vec![None];
    }
    let copied = bounds(generics).any(|bound| is_named(bound, &["Copy"]));
    if !bounds(generics).all(|bound| is_named(bound, &OF_BOTH) || is_named(bound, &["Copy"])) {
        return vec![];
    }
    let mut lists = vec![];
    let is_typed = generics.type_params().next().is_some();
    if is_typed && !copied {
        lists.push(Some(arguments(generics, &quote!(::std::string::String))));
    }
    lists.push(Some(arguments(generics, &quote!(::core::primitive::u8))));
    lists
}

/// `ty` for each type parameter, and any value of its type for a constant.
fn arguments(generics: &Generics, ty: &TokenStream) -> TokenStream {
    let arguments = generics.params.iter().map(|parameter| match parameter {
        GenericParam::Lifetime(_) => quote!('static),
        GenericParam::Type(_) => ty.clone(),
        GenericParam::Const(parameter) => {
            match parameter.ty.to_token_stream().to_string().as_str() {
                "bool" => quote!(true),
                "char" => quote!('a'),
                _ => quote!(1),
            }
        }
    });
    quote!(<#(#arguments),*>)
}

/// Those at the parameters and those of the `where` clause.
fn bounds(generics: &Generics) -> impl Iterator<Item = &TypeParamBound> {
    let of_clause = generics
        .where_clause
        .iter()
        .flat_map(|clause| &clause.predicates);
    let of_clause = of_clause.flat_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => Some(predicate.bounds.iter()).into_iter().flatten(),
        _ => None.into_iter().flatten(),
    });
    generics
        .type_params()
        .flat_map(|TypeParam { bounds, .. }| bounds)
        .chain(of_clause)
}

/// A lifetime as a bound holds for both.
fn is_named(bound: &TypeParamBound, names: &[&str]) -> bool {
    match bound {
        TypeParamBound::Trait(bound) => bound
            .path
            .segments
            .last()
            .is_some_and(|last| names.iter().any(|name| last.ident == name)),
        TypeParamBound::Lifetime(_) => true,
        _ => false,
    }
}
