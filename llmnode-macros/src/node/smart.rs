//! `goal = "…"`, `think` and `form = chat`: nodes with a signature in place of a prompt.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, Field, Generics, ItemStruct, LitStr, Type, parse_quote};

use super::Faults;
use super::args::NodeArgs;
use super::bounds::field_type;
use super::description::doc_text;
use super::field::Mark;
use super::model::NodeModel;
use crate::generics::{bare, end_spans};
use crate::literals::unexpected;
use crate::macro_args::{key, value};

#[derive(Clone, Copy)]
pub(crate) enum Form {
    Chat,
    Json,
}

impl Form {
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const WANTED: &str =
            "`form` takes `chat` or `json`, after DSPy's two adapters; without it the form is llmnode's own";
        match input.fork().call(Ident::parse_any) {
            Ok(name) if name == "chat" || name == "json" => {
                input.call(Ident::parse_any)?;
                Ok(if name == "chat" { Self::Chat } else { Self::Json })
            }
            _ => Err(unexpected(input, WANTED)),
        }
    }
}

pub(crate) struct Smart {
    goal: LitStr,
    form: Option<Form>,
    think: bool,
}

#[cfg(not(feature = "smart"))]
mod off {
    pub(super) const MESSAGE: &str =
        "`goal` needs the feature `smart` of llmnode; add it in Cargo.toml: `features = [\"smart\"]`";
}

/// `None` without a goal, or with a faulty one.
pub(crate) fn check(
    args: &NodeArgs,
    item: &ItemStruct,
    marks: &[Mark],
    faults: &mut Faults,
) -> Option<Smart> {
    let Some(goal) = key(&args.goal) else {
        let of_goal = [key(&args.form), key(&args.think)].into_iter().flatten();
        for alone in of_goal.filter(|_| !args.has_unknown_keys) {
            let message = format!(
                "`{alone}` belongs to a node with `goal`; write `goal = \"…\"` in place of `prompt`, or drop `{alone}`"
            );
            faults.push(Error::new(alone.span(), message));
        }
        return None;
    };
    #[cfg(not(feature = "smart"))]
    faults.push(Error::new(goal.span(), off::MESSAGE));
    check_combinations(args, goal, faults);
    fields(item, marks, faults);
    if let Some(parameter) = item.generics.params.first() {
        let message = "a node with `goal` is read from JSON, as examples in programs are, so its struct has no lifetimes and is not generic; drop them";
        faults.push(Error::new_spanned(parameter, message));
    } else {
        item.fields.iter().for_each(|field| check_owned(field, faults));
    }
    let text = value(&args.goal)?;
    reject_placeholders(text, item, faults);
    Some(Smart { goal: text.clone(), form: value(&args.form).copied(), think: args.think.is_some() })
}

fn check_combinations(args: &NodeArgs, goal: &Ident, faults: &mut Faults) {
    let others = [
        (key(&args.prompt), "the fields are sent as they are"),
        (key(&args.system), "the goal is the system message"),
        (key(&args.with), "there is no prompt to name it"),
        (key(&args.examples), "examples stand in a program: `Program::with_demos`"),
    ];
    for (other, why) in others {
        if let Some(other) = other {
            let message = format!("`{other}` cannot be combined with `{goal}`: {why}; drop one of them");
            faults.push(Error::new(other.span(), message));
        }
    }
}

fn fields(item: &ItemStruct, marks: &[Mark], faults: &mut Faults) {
    if item.fields.is_empty() {
        let message = "a node with `goal` has its inputs as fields, and there is none; add one";
        faults.push(Error::new(item.ident.span(), message));
    }
    for mark in marks {
        if let Mark::Skip(at) | Mark::History(at) | Mark::Model(at) | Mark::Tools(at) = mark {
            let message =
                "every field of a node with `goal` is an input; drop the attribute, or write a `prompt`";
            faults.push(Error::new(*at, message));
        }
    }
}

fn check_owned(field: &Field, faults: &mut Faults) {
    if let Type::Reference(reference) = bare(&field.ty) {
        let message = "a node with `goal` is read from JSON, as examples in programs are, so its fields own what they hold; write `String` or `Vec<T>`";
        faults.push(Error::new_spanned(reference, message));
    }
}

/// A goal is not a template.
fn reject_placeholders(goal: &LitStr, item: &ItemStruct, faults: &mut Faults) {
    let text = goal.value();
    let names =
        item.fields.iter().filter_map(|field| field.ident.as_ref().map(|name| name.unraw().to_string()));
    for name in names.filter(|name| text.contains(&format!("{{{name}}}"))) {
        let message = format!(
            "a goal has no variables: every field is sent below its name; write `{name}` without braces"
        );
        faults.push(Error::new(goal.span(), message));
    }
}

pub(crate) fn emit(model: &NodeModel<'_>, private: &Ident) -> Option<TokenStream> {
    let Smart { goal, form, think } = model.smart.as_ref()?;
    let here = Span::mixed_site();
    let ident = &model.item.ident;
    let raw_text: Type = parse_quote!(::std::string::String);
    let output = model.output.as_ref().unwrap_or(&raw_text);
    let text = model.output.is_none();
    let goal = goal.value();
    let form = match form {
        None => quote!(Own),
        Some(Form::Chat) => quote!(Chat),
        Some(Form::Json) => quote!(Json),
    };
    let names: Vec<&Ident> = model.item.fields.iter().filter_map(|field| field.ident.as_ref()).collect();
    let declared = model.item.fields.iter().filter_map(|field| {
        let name = field.ident.as_ref()?.unraw().to_string();
        let says = doc_text(&field.attrs).unwrap_or_else(|| "".to_token_stream());
        // Spanned at the field's type, where the compiler reports that it cannot be an input.
        let (at, end) = end_spans(field_type(model, field.ident.as_ref()?)?);
        let ty = &field.ty;
        let input = Ident::new("input", here.located_at(at));
        Some(quote_spanned!(here.located_at(end)=> .#input::<#ty>(#name, #says)))
    });
    // Spanned at the output's type, where the compiler reports that it cannot be an output.
    let (at, end) = end_spans(output);
    let new = |name: &str| Ident::new(name, here.located_at(at));
    let declaring = if *think {
        let new = new("thinking");
        quote_spanned!(here.located_at(end)=> #new::<#output>(#goal, #private::smart::Form::#form))
    } else {
        let new = new("new");
        quote_spanned!(here.located_at(end)=> #new::<#output>(#goal, #private::smart::Form::#form, #text))
    };
    Some(quote_spanned! {here=>
        #[automatically_derived]
        impl #private::smart::Smart for #ident {
            fn declared() -> &'static #private::smart::TypedSignature {
                static DECLARED: ::std::sync::OnceLock<#private::smart::TypedSignature> = ::std::sync::OnceLock::new();
                DECLARED.get_or_init(|| {
                    #private::smart::SignatureBuilder::#declaring
                        #(#declared)*
                        .done()
                })
            }
            fn values(&self) -> #private::smart::WrittenValues {
                let mut __to = #private::smart::InputWriter::new(<Self as #private::smart::Smart>::declared());
                #(__to.add(&self.#names);)*
                __to.done()
            }
            fn read(__from: &#private::smart::Map<::std::string::String, #private::smart::Value>) -> #private::smart::ReadResult<Self> {
                let mut __from = #private::smart::InputReader::new(<Self as #private::smart::Smart>::declared(), __from);
                #(let #names = __from.field();)*
                let __node = (|| ::core::option::Option::Some(Self { #(#names: #names?),* }))();
                __from.done(__node)
            }
        }
    })
}

pub(crate) fn stub(ident: &Ident, generics: &Generics, private: &Ident) -> Option<TokenStream> {
    if cfg!(not(feature = "smart")) || !generics.params.is_empty() {
        return None;
    }
    let here = Span::mixed_site();
    let unreachable = quote!(::core::unreachable!());
    Some(quote_spanned! {here=>
        #[automatically_derived]
        impl #private::smart::Smart for #ident {
            fn declared() -> &'static #private::smart::TypedSignature { #unreachable }
            fn values(&self) -> #private::smart::WrittenValues { #unreachable }
            fn read(_: &#private::smart::Map<::std::string::String, #private::smart::Value>) -> #private::smart::ReadResult<Self> {
                #unreachable
            }
        }
    })
}
