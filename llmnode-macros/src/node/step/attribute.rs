//! `#[prep(expression)]` on a field: its value when a flow reaches the node. The
//! expression may use `state`.
//!
//! As with `#[node(..)]`, the attribute is taken off whatever it says. A field with
//! a faulty one counts as prepared.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, Field, ItemStruct, Meta, Token};

use crate::diagnostics::suggest;
use crate::expression;
use crate::node::faults::Faults;

/// Where the attribute stands, and its expression, unless that had a fault.
pub(crate) struct Prep {
    pub(crate) at: Span,
    pub(crate) written: Option<Expr>,
}

fn is_helper(attribute: &Attribute) -> bool {
    attribute.path().is_ident("prep")
}

/// One for each field, in their order. `step`: whether arguments make the node one,
/// in which case a field without the attribute is looked at for a misspelt one.
pub(crate) fn take_attributes(
    item: &mut ItemStruct,
    step: bool,
    faults: &mut Faults,
) -> Vec<Option<Prep>> {
    for attribute in item.attrs.extract_if(.., |attribute| is_helper(attribute)) {
        let message = "`#[prep(…)]` goes on a field; a function that makes the whole node is named \
                       by `prep = path` in `#[llm_node(…)]`";
        faults.push(Error::new_spanned(&attribute, message));
    }
    let step = step
        || item
            .fields
            .iter()
            .any(|field| field.attrs.iter().any(is_helper));
    item.fields
        .iter_mut()
        .map(|field| take(field, step, faults))
        .collect()
}

/// Only one counts.
fn take(field: &mut Field, step: bool, faults: &mut Faults) -> Option<Prep> {
    let mut prep: Option<Prep> = None;
    for attribute in field.attrs.extract_if(.., |attribute| is_helper(attribute)) {
        let at = attribute.path().span();
        if prep.is_some() {
            faults.push(Error::new(at, "`#[prep]` is given more than once"));
            continue;
        }
        let written = read(&attribute, field.ident.as_ref());
        let written = written.map_err(|error| faults.push(error)).ok();
        prep = Some(Prep { at, written });
    }
    prep.or_else(|| if step { misspelt(field, faults) } else { None })
}

/// The expression, parsed and checked. A comma behind it is allowed, since people
/// write it in long ones.
fn read(attribute: &Attribute, field: Option<&syn::Ident>) -> syn::Result<Expr> {
    let field = field.map_or("field".to_owned(), ToString::to_string);
    let Meta::List(list) = &attribute.meta else {
        return Err(expected(&field, attribute.path().span()));
    };
    if list.tokens.is_empty() {
        return Err(expected(&field, attribute.path().span()));
    }
    let parsed = attribute.parse_args_with(|input: syn::parse::ParseStream<'_>| {
        let start = input.span();
        let written: Expr = input.parse().map_err(|_| expected(&field, start))?;
        let _: Option<Token![,]> = input.parse()?;
        if !input.is_empty() {
            let at = input.span();
            let _: proc_macro2::TokenStream = input.parse()?;
            // The inner result keeps this message: the outer one's would be
            // replaced.
            return Ok(Err(Error::new(
                at,
                "`#[prep]` takes one expression; a list of values goes into brackets",
            )));
        }
        Ok(Ok(written))
    });
    let written = parsed.map_err(|error| expected(&field, error.span()))??;
    check_expression(&written)?;
    Ok(written)
}

/// With the field's own name in the example.
fn expected(field: &str, at: Span) -> Error {
    let message = format!(
        "`#[prep]` takes an expression that sees `state`, such as `#[prep(state.{field}.clone())]`"
    );
    Error::new(at, message)
}

/// By the distance of names alone: `#[preb]`, `#[prepare]`.
fn is_nearly_prep(attribute: &Attribute) -> bool {
    let name = attribute.path().get_ident().map(ToString::to_string);
    name.is_some_and(|name| suggest(&name, ["prep"]).is_some())
}

/// Takes a misspelt `#[prep(…)]`: a field of a step needs one.
fn misspelt(field: &mut Field, faults: &mut Faults) -> Option<Prep> {
    let attribute = field
        .attrs
        .extract_if(.., |attribute| is_nearly_prep(attribute))
        .next()?;
    let at = attribute.path().span();
    let name = attribute.path().to_token_stream();
    faults.push(Error::new(
        at,
        format!("unknown attribute `{name}`; did you mean `prep`?"),
    ));
    Some(Prep { at, written: None })
}

/// Refuses control flow, and `self`: the node does not exist yet.
fn check_expression(written: &Expr) -> syn::Result<()> {
    expression::reject_control_flow(written, |token| match token {
        "?" => {
            "`#[prep]`; return the `Result` itself, or name a function that uses `?` by `prep = \
             path`"
        }
        _ => "`#[prep]`; name a function that prepares the node with `prep = path`",
    })?;
    match expression::find_self(written.to_token_stream()) {
        Some(at) => {
            let message = "`#[prep]` cannot use `self`, because the node does not exist yet; read \
                           `state`, or name a function that makes the node with `prep = path`";
            Err(Error::new(at, message))
        }
        None => Ok(()),
    }
}
