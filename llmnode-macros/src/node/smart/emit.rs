//! Emits the impl of `Smart` for a checked node with a goal.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, Field, Generics, Type, parse_quote};

use super::Form;
use crate::description::doc_text;
use crate::generics::end_spans;
use crate::macro_args::value;
use crate::node::args::NodeArgs;
use crate::node::model::NodeModel;
use crate::validate::definition::derives;

/// `declared` is the signature, made once; `values` writes the inputs of a node,
/// `read` makes a node of the inputs of an example.
pub(crate) fn emit(model: &NodeModel<'_>, private: &Ident) -> Option<TokenStream> {
    let ident = &model.item.ident;
    let fields = &model.item.fields;
    let names: Vec<&Ident> = fields
        .iter()
        .filter_map(|field| field.ident.as_ref())
        .collect();
    let builder = builder(model, private)?;
    let declared = fields.iter().filter_map(declared_input);
    let serde = serde_impls(ident, &model.item.attrs, private);
    Some(generated! {
        #serde
        #[automatically_derived]
        impl #private::smart::Smart for #ident {
            fn declared() -> &'static #private::smart::TypedSignature {
                static DECLARED: ::std::sync::OnceLock<#private::smart::TypedSignature> =
                    ::std::sync::OnceLock::new();
                ::std::sync::OnceLock::get_or_init(&DECLARED, || {
                    #private::smart::SignatureBuilder::#builder
                        #(#declared)*
                        .done()
                })
            }
            fn values(&self) -> #private::smart::WrittenValues {
                let mut __to = #private::smart::InputWriter::new(
                    <Self as #private::smart::Smart>::declared()
                );
                #(__to.add(&self.#names);)*
                __to.done()
            }
            fn read(
                __from: &#private::smart::Map<::std::string::String, #private::smart::Value>
            ) -> #private::smart::ReadResult<Self> {
                let mut __from = #private::smart::InputReader::new(
                    <Self as #private::smart::Smart>::declared(),
                    __from
                );
                #(let #names = __from.field();)*
                let __node = (|| ::core::option::Option::Some(Self { #(#names: #names?),* }))();
                __from.done(__node)
            }
        }
    })
}

/// The call that begins a signature: its goal, the form of its messages and its
/// output.
fn builder(model: &NodeModel<'_>, private: &Ident) -> Option<TokenStream> {
    let NodeArgs {
        goal, form, think, ..
    } = model.args;
    let goal = value(goal)?.value();
    let form = match value(form) {
        None => quote!(Own),
        Some(Form::Chat) => quote!(Chat),
        Some(Form::Json) => quote!(Json),
    };
    let raw_text: Type = parse_quote!(::std::string::String);
    let output = model.output.unwrap_or(&raw_text);
    let text = model.output.is_none();
    // `thinking` declares an output before the answer, so that raw text is then a
    // field, too.
    let (name, text) = if think.is_some() {
        ("thinking", None)
    } else {
        ("new", Some(quote!(, #text)))
    };
    // The compiler reports an output that cannot be one at its type.
    let (at, end) = end_spans(output);
    let new = Ident::new(name, at);
    Some(quote_spanned!(end=> #new::<#output>(#goal, #private::smart::Form::#form #text)))
}

/// The compiler reports a field that cannot be an input at its type.
fn declared_input(field: &Field) -> Option<TokenStream> {
    let name = field.ident.as_ref()?.unraw().to_string();
    let says = doc_text(&field.attrs).unwrap_or_else(|| "".to_token_stream());
    let ty = &field.ty;
    let (at, end) = end_spans(ty);
    let input = Ident::new("input", at);
    Some(quote_spanned!(end=> .#input::<#ty>(#name, #says)))
}

/// The inputs as a row of a file, unless the node derives serde's traits itself:
/// rows then are what it says. The macro `row!` of `llmnode-smart` writes the
/// traits that are missing.
fn serde_impls(ident: &Ident, attributes: &[Attribute], private: &Ident) -> TokenStream {
    let derived: Vec<Ident> = derives(attributes).collect();
    let missing = ["Serialize", "Deserialize"]
        .into_iter()
        .filter(|name| derived.iter().all(|one| one != name));
    let missing: Vec<Ident> = missing
        .map(|name| Ident::new(name, Span::call_site()))
        .collect();
    if missing.is_empty() {
        TokenStream::new()
    } else {
        quote!(#private::smart::row!(#ident: #(#missing)*);)
    }
}

/// `None` where the trait is not there, or could not be implemented.
pub(crate) fn stub(ident: &Ident, generics: &Generics, private: &Ident) -> Option<TokenStream> {
    if cfg!(not(feature = "smart")) || !generics.params.is_empty() {
        return None;
    }
    let unreachable = quote!(::core::unreachable!());
    Some(generated! {
        #[automatically_derived]
        impl #private::smart::Smart for #ident {
            fn declared() -> &'static #private::smart::TypedSignature { #unreachable }
            fn values(&self) -> #private::smart::WrittenValues { #unreachable }
            fn read(
                _: &#private::smart::Map<::std::string::String, #private::smart::Value>
            ) -> #private::smart::ReadResult<Self> {
                #unreachable
            }
        }
    })
}
