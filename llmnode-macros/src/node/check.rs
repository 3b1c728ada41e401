//! From arguments and item to a `NodeModel`; every fault of one invocation in one run.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Field, Fields, ItemStruct, Type};

use super::Faults;
use super::args::NodeArgs;
use super::model::{NodeModel, Settings};
use super::recover::{self, Around};
use super::variables::Variables;
use crate::crate_path;
use crate::diagnostics::suggest;
use crate::keyed::{key, value};

/// Checks a node whose helper attributes are taken; `None` if there are faults.
pub(crate) fn check<'a>(
    args: &'a NodeArgs,
    item: &'a ItemStruct,
    skipped: &[Skip],
    faults: &mut Faults,
) -> Option<NodeModel<'a>> {
    together(args, faults);
    if !shape(item, faults) {
        return None;
    }
    let mut variables = Variables::new(item, args.state.is_some(), faults);
    let system = args.system.as_ref().and_then(|given| variables.read(given));
    let prompt = args.prompt.as_ref().and_then(|given| variables.read(given));
    if args.prompt.is_some() {
        variables.unused(skipped);
    }
    let prompt = prompt.filter(|_| faults.none())?;
    Some(NodeModel {
        item,
        krate: crate_path::resolve(value(&args.krate)),
        name: value(&args.name).map(syn::LitStr::value),
        system: system.unwrap_or_default(),
        prompt,
        output: value(&args.output).cloned(),
        state: value(&args.state).cloned(),
        fallback: value(&args.fallback).cloned(),
        settings: settings(args),
    })
}

fn settings(args: &NodeArgs) -> Settings<'_> {
    Settings {
        retries: value(&args.retries).copied(),
        transport_retries: value(&args.transport_retries).copied(),
        model: value(&args.model).map(syn::LitStr::value),
        temperature: value(&args.temperature).copied(),
        max_tokens: value(&args.max_tokens).copied(),
        fallback_model: value(&args.fallback_model).map(syn::LitStr::value),
        recover: value(&args.recover).map_or(&[], Vec::as_slice),
        limits: value(&args.limits),
    }
}

/// Arguments that are wrong only beside others.
fn together(args: &NodeArgs, faults: &mut Faults) {
    // What could not be placed may well have been meant as the prompt.
    if args.prompt.is_none() && !args.misplaced {
        faults.push(Error::new(Span::call_site(), "missing `prompt`; add `prompt = \"…\"`"));
    }
    if let Some(retries) =
        args.retries.as_ref().filter(|retries| retries.value.is_some_and(|count| count > 0))
        && args.output.is_none()
    {
        let message = "`retries` asks again after an invalid answer, and nothing validates raw text; \
                       add `output = …` or drop `retries`";
        faults.push(Error::new(retries.key.span(), message));
    }
    if let Some(stacks) = value(&args.recover) {
        let around = Around {
            retries: key(&args.retries),
            transport_retries: key(&args.transport_retries),
            fallback: key(&args.fallback),
            fallback_model: key(&args.fallback_model),
            raw_text: args.output.is_none(),
        };
        recover::check(stacks, &around, &mut faults.errors);
    }
    if let Some(Type::Reference(reference)) = value(&args.state) {
        let message = "`state` is the type itself, which the run lends by reference; write it without `&`";
        faults.push(Error::new(reference.and_token.span(), message));
    }
}

/// Reports fields that cannot be variables; tells whether the prompts can be read against the fields.
fn shape(item: &ItemStruct, faults: &mut Faults) -> bool {
    if let Fields::Unnamed(fields) = &item.fields {
        let message = "a node's fields are the variables of its prompt, so they need names; \
                       write a struct with named fields";
        faults.push(Error::new(fields.span(), message));
        return false;
    }
    for field in &item.fields {
        if let Some(name) = field.ident.as_ref().filter(|name| name.unraw() == "state") {
            let message =
                "a field cannot be called `state`, by which prompts name the program's state; rename it";
            faults.push(Error::new(name.span(), message));
        }
    }
    true
}

/// Whether a field is marked as one that no prompt uses.
#[derive(Clone, Copy)]
pub(crate) enum Skip {
    No,
    At(Span),
    /// Its attribute has a fault. Whatever was meant, the field was not forgotten.
    Unread,
}

/// Removes `#[node(…)]` from the fields; tells for each field whether it is skipped.
pub(crate) fn take_field_attributes(item: &mut ItemStruct, faults: &mut Faults) -> Vec<Skip> {
    for attribute in item.attrs.extract_if(.., |attribute| attribute.path().is_ident("node")) {
        let message = "`#[node(…)]` goes on a field; arguments of the node go into `#[llm_node(…)]`";
        faults.push(Error::new_spanned(&attribute, message));
    }
    item.fields.iter_mut().map(|field| take_skip(field, faults)).collect()
}

fn take_skip(field: &mut Field, faults: &mut Faults) -> Skip {
    let mut skip = Skip::No;
    for attribute in field.attrs.extract_if(.., |attribute| attribute.path().is_ident("node")) {
        match read_skip(&attribute) {
            Ok(_) if matches!(skip, Skip::At(_)) => {
                faults.push(Error::new_spanned(&attribute, "`skip` given more than once"));
            }
            Ok(at) => skip = Skip::At(at),
            Err(error) => {
                skip = Skip::Unread;
                faults.push(error);
            }
        }
    }
    skip
}

/// Where it says `skip`.
fn read_skip(attribute: &Attribute) -> syn::Result<Span> {
    const USAGE: &str = "a field takes `#[node(skip)]`, for one that no prompt uses";
    let mut read = None;
    attribute
        .parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            if name == "skip" && !meta.input.peek(syn::Token![=]) {
                read = Some(meta.path.span());
                return Ok(());
            }
            let near = suggest(&name, ["skip"]).map(|near| format!("; did you mean `{near}`?"));
            Err(meta.error(match near {
                Some(near) if name != "skip" => format!("unknown argument `{name}`{near}"),
                _ => USAGE.to_owned(),
            }))
        })
        .map_err(|error| if read.is_some() { Error::new_spanned(attribute, USAGE) } else { error })?;
    read.ok_or_else(|| Error::new_spanned(attribute, USAGE))
}
