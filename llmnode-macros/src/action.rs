//! `#[derive(Action)]`: implements `Action` with the names of the variants, and `From<&Self>`.
//!
//! What goes in is an enum whose variants are the decisions of a step; what comes
//! out are two impls, which a flow needs for two reasons:
//!
//! - `Action` has the names of the variants, because journals, outlines and the
//!   page of a run write down which decision was taken. They are texts and not
//!   discriminants: a variant may be moved or inserted between a pause and its
//!   continuation.
//! - `From<&Self>` copies an action that is lent. A flow asks every output that
//!   decides something for this conversion (`decided` in `llmnode-flow`); where the
//!   output is the action itself, this impl is the answer. Of the fields it needs
//!   `Clone`.
//!
//! A derive and not an attribute, since the item itself stays as it is.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, DataEnum, DeriveInput, Error, Fields, LitStr, Path, Token, Variant};

use crate::crate_path;
use crate::diagnostics::{Errors, suggest};
use crate::generics::end_spans;
use crate::item;
use crate::literals::{non_empty, text};
use crate::macro_args::{Slot, fill, value};

/// On a fault nothing but the errors is emitted: unlike a node, an action has no
/// uses for which a stub would silence further errors, apart from the flow's own
/// `match`, which needs no impl.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    if let Err(error) = item::check_depth(&item) {
        return error.into_compile_error();
    }
    let input: DeriveInput = match syn::parse2(item) {
        Ok(input) => input,
        // The compiler reports syntax errors itself.
        Err(_) => return TokenStream::new(),
    };
    let mut errors = Errors::default();
    let mut krate = None;
    // The attributes of the enum take `crate`, those of its variants take `name`.
    // Both are read by one parser, which is told the keys that are allowed in this
    // place.
    for attribute in action_attributes(&input.attrs) {
        let read = arguments(attribute, &["crate"], &mut None, &mut krate);
        if let Err(error) = read {
            errors.push(error);
        }
    }
    let variants = variants(&input, &mut errors);
    let impls = match &variants {
        Some(variants) => impls(&input.ident, variants),
        None => TokenStream::new(),
    };
    // `variants` has answered `None` if no impl can be written at all. A wrong name
    // of a variant is no reason for that: the impls are emitted beside the error,
    // so that the flow does not fail as well.
    let impls = (!impls.is_empty()).then(|| crate_path::scope(&crate_path::resolve(&krate), impls));
    quote!(#impls #errors)
}

/// A variant with the name by which it is recorded: the one of its attribute, or
/// its own without `r#`.
struct NamedVariant<'a> {
    variant: &'a Variant,
    name: String,
}

/// Underlines the keyword, since the name of the item is right.
fn no_enum(at: TokenStream, kind: &str) -> Error {
    let message =
        format!("an action is an enum whose variants are the decisions of a step; this is {kind}");
    Error::new_spanned(at, message)
}

/// `None` if the item is no enum without parameters: then there are no impls.
fn variants<'a>(input: &'a DeriveInput, errors: &mut Errors) -> Option<Vec<NamedVariant<'a>>> {
    let DataEnum { variants, .. } = match &input.data {
        syn::Data::Enum(data) => data,
        syn::Data::Struct(data) => {
            errors.push(no_enum(data.struct_token.to_token_stream(), "a struct"));
            return None;
        }
        syn::Data::Union(data) => {
            errors.push(no_enum(data.union_token.to_token_stream(), "a union"));
            return None;
        }
    };
    if let Some(parameter) = input.generics.params.first() {
        let message =
            "an action cannot have type or lifetime parameters, because it outlives its step";
        errors.push(Error::new_spanned(parameter, message));
        return None;
    }
    // Two variants of one name could not be told apart in a journal. Names are
    // compared as they are recorded, so that `name = "Stop"` meets a variant
    // `Stop`.
    let mut named: Vec<NamedVariant<'a>> = vec![];
    for variant in variants {
        let mut name_argument = None;
        for attribute in action_attributes(&variant.attrs) {
            let read = arguments(attribute, &["name"], &mut name_argument, &mut None);
            if let Err(error) = read {
                errors.push(error);
            }
        }
        let name =
            value(&name_argument).map_or_else(|| variant.ident.unraw().to_string(), LitStr::value);
        if named.iter().any(|other| other.name == name) {
            let message =
                format!("two actions are called `{name}`; give this one a name of its own");
            let at = value(&name_argument).map_or(variant.ident.span(), LitStr::span);
            errors.push(Error::new(at, message));
        }
        named.push(NamedVariant { variant, name });
    }
    Some(named)
}

/// A derive sees all attributes of the item, those of serde and of other derives
/// included.
fn action_attributes(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("action"))
}

/// Fills the slots of the keys that are allowed here. The other slot stays empty,
/// since its key is refused before it is read.
fn arguments(
    attribute: &Attribute,
    keys: &[&'static str],
    name: &mut Slot<LitStr>,
    krate: &mut Slot<Path>,
) -> syn::Result<()> {
    let list = attribute
        .meta
        .require_list()
        .map_err(|_| Error::new_spanned(attribute, expected(keys)))?;
    list.parse_args_with(|input: ParseStream<'_>| argument(input, keys, name, krate))
}

/// Exactly one `key = value`. There are two keys in all, and never two in one
/// place, so a list would only be a way to write one twice.
fn argument(
    input: ParseStream<'_>,
    keys: &[&'static str],
    name: &mut Slot<LitStr>,
    krate: &mut Slot<Path>,
) -> syn::Result<()> {
    let key = input
        .call(Ident::parse_any)
        .map_err(|error| Error::new(error.span(), expected(keys)))?;
    if !keys.iter().any(|allowed| key == allowed) {
        // A misspelt key gets a proposal, any other word the whole form: the user
        // may not know that there is a form.
        let near = suggest(&key.to_string(), keys.iter().copied());
        let message = match near {
            Some(near) => format!("unknown argument `{key}`; did you mean `{near}`?"),
            None => expected(keys),
        };
        return Err(Error::new(key.span(), message));
    }
    if input.parse::<Option<Token![=]>>()?.is_none() {
        return Err(Error::new(key.span(), expected(keys)));
    }
    if key == "name" {
        fill(name, key.clone(), non_empty(text(input, &key, ""), &key))?;
    } else {
        crate_path::parse(input, key, krate)?;
    }
    if input.is_empty() {
        return Ok(());
    }
    let at = input.span();
    // Unread tokens would be a second error.
    input.parse::<TokenStream>()?;
    Err(Error::new(at, expected(keys)))
}

/// The form that is allowed in the place whose keys these are.
fn expected(keys: &[&'static str]) -> String {
    match keys {
        ["name"] => "a variant takes `#[action(name = \"…\")]`".to_owned(),
        _ => "an action takes `#[action(crate = ::path)]`".to_owned(),
    }
}

/// Writes both impls. They are one `match` each, which is what a person would
/// write.
fn impls(ident: &Ident, variants: &[NamedVariant<'_>]) -> TokenStream {
    let private = crate_path::private();
    // `NAMES` in the order of the declaration: outlines list the arrows of a step
    // in it.
    let names = variants.iter().map(|named| &named.name);
    let named = variants.iter().map(|NamedVariant { variant, name }| {
        let ident = &variant.ident;
        generated!(Self::#ident { .. } => #name,)
    });
    let copied = variants.iter().map(|named| clone_arm(named.variant));
    // References count as inhabited: `match self {}` would not compile.
    let (name, from) = match variants {
        [] => (generated!(match *self {}), generated!(match *__action {})),
        _ => (
            generated!(#private::Cow::Borrowed(match self { #(#named)* })),
            generated!(match __action { #(#copied)* }),
        ),
    };
    generated! {
        #[automatically_derived]
        impl #private::Action for #ident {
            const NAMES: ::core::option::Option<&'static [&'static ::core::primitive::str]> =
                ::core::option::Option::Some(&[#(#names),*]);
            fn name(&self) -> #private::Cow<'static, ::core::primitive::str> {
                #name
            }
        }
        #[automatically_derived]
        impl ::core::convert::From<&#ident> for #ident {
            fn from(__action: &#ident) -> Self {
                #from
            }
        }
    }
}

/// One arm of `From<&Self>`. The fields are bound by number, because a field may
/// have the name of a binding in scope of the generated code, and tuples have no
/// names at all.
fn clone_arm(variant: &Variant) -> TokenStream {
    let ident = &variant.ident;
    if matches!(variant.fields, Fields::Unit) {
        return generated!(Self::#ident => Self::#ident,);
    }
    let fields = variant
        .fields
        .iter()
        .zip(variant.fields.members())
        .enumerate();
    let (bindings, values): (Vec<_>, Vec<_>) = fields
        // `members` gives the names of a struct's fields and the numbers of a
        // tuple's, so that both kinds of variants are one expression: `Self::Move {
        // 0: __field0 }`.
        .map(|(index, (field, member))| {
            // The compiler reports a missing `Clone` at this span.
            let at = end_spans(&field.ty).0;
            let binding = format_ident!("__field{index}", span = at);
            let cloned = quote_spanned!(at=> ::core::clone::Clone::clone(#binding));
            (generated!(#member: #binding), generated!(#member: #cloned))
        })
        .unzip();
    generated!(Self::#ident { #(#bindings),* } => Self::#ident { #(#values),* },)
}
