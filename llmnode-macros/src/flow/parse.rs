//! Parses a flow. After a fault in one step, parsing continues behind the next comma.
//!
//! ```text
//! flow = [attributes] [visibility] Name ( State ) [ { parameters } ] [ -> Action ] { , option = value } : steps
//! ```
//!
//! Between the state and the colon, parts may come in any order: nobody remembers
//! which, and there is no ambiguity.

use proc_macro2::{Spacing, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, Ident, Token, Type, Visibility, parenthesized, token};

use super::parse_util::{attributes, braces, conditional, items, non_static_lifetime};
use super::step::parse_step;
use super::syntax::{Flow, Parameter};
use crate::crate_path;
use crate::diagnostics::{Errors, list, unknown};
use crate::literals::{integer, non_empty, text};
use crate::macro_args::fill;

/// With a name, since a number alone would say nothing.
const OPTIONS: [&str; 3] = ["steps", "name", "crate"];

/// Fails only if not even the name could be parsed.
pub(crate) fn flow(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Flow> {
    let mut flow = begin(input, errors)?;
    if let Err(error) = head(input, &mut flow, errors) {
        errors.push(error);
        // After a faulty head, the body would be misread.
        while input.parse::<TokenTree>().is_ok() {}
        return Ok(flow);
    }
    items(input, "step", errors, |input, errors| {
        flow.step_list.push(parse_step(input, errors)?);
        Ok(())
    })?;
    Ok(flow)
}

/// What must be there for the flow to have a name, and so a stub.
fn begin(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Flow> {
    let mut attrs = attributes(input)?;
    // A `cfg` within a flow cannot be evaluated here; see `cfg.rs`. On the flow
    // itself it stands above the invocation.
    for error in attrs
        .extract_if(.., |attribute| conditional(attribute).is_some())
        .filter_map(|condition| conditional(&condition))
    {
        errors.push(error);
    }
    let vis: Visibility = input.parse()?;
    let begins = "a flow begins with its name and its state, such as `pub Research(World): …`";
    let ident: Ident = input
        .parse()
        .map_err(|_| Error::new(input.span(), begins))?;
    Ok(Flow {
        attrs,
        vis,
        ident,
        state: None,
        action: None,
        parameters: None,
        steps: None,
        name: None,
        krate: None,
        step_list: vec![],
    })
}

/// From the state to the colon before the first step. Each part is taken at its
/// first token, and is refused where it stands a second time.
fn head(input: ParseStream<'_>, flow: &mut Flow, errors: &mut Errors) -> syn::Result<()> {
    if input.peek(Token![<]) {
        return Err(input.error(
            "a flow cannot have type or lifetime parameters; write them in the type of its state",
        ));
    }
    if !input.peek(token::Paren) {
        let ident = &flow.ident;
        let message = format!("`{ident}` needs a state; write `{ident}(World): …`");
        return Err(Error::new(ident.span(), message));
    }
    let state;
    let parentheses = parenthesized!(state in input);
    // A state that could not be read leaves no flow that could be checked further.
    flow.state = state.parse().ok().filter(|_| state.is_empty());
    if flow.state.is_none() {
        return Err(Error::new(
            parentheses.span.join(),
            "a flow has one state, which is a type such as `World`",
        ));
    }
    check_static(&flow.state, "its state")?;
    loop {
        if input.peek(Token![:]) && !input.peek(Token![::]) {
            return input.parse::<Token![:]>().map(drop);
        } else if input.peek(Token![->]) && flow.action.is_none() {
            input.parse::<Token![->]>()?;
            let at = input.span();
            flow.action = Some(input.parse().map_err(|_| {
                Error::new(at, "expected the type that the flow returns after `->`")
            })?);
            check_static(&flow.action, "the type that it returns")?;
        } else if input.peek(token::Brace) && flow.parameters.is_none() {
            let mut faults = Errors::default();
            let read = parameters(input, &mut faults);
            // Faults in the parameters are reported one by one if the flow goes on
            // behind them. If it does not, the braces were meant for something
            // else, and that is the one error.
            let continues =
                input.peek(Token![:]) || input.peek(Token![,]) || input.peek(Token![->]);
            flow.parameters = Some(read?);
            match faults.into_result() {
                Err(error) if continues => errors.push(error),
                judged => judged?,
            }
        } else if input.peek(Token![,]) {
            option(input, flow, errors)?;
        } else {
            // What stands there in place of the colon, for the message.
            let found = input
                .cursor()
                .token_tree()
                .map(|(token, _)| format!(", found `{token}`"));
            let message = format!(
                "expected `:` before the first step{}",
                found.unwrap_or_default()
            );
            return Err(Error::new(input.span(), message));
        }
    }
}

/// A flow is stored, sent between threads and continued by another process.
fn check_static(ty: &Option<Type>, what: &str) -> syn::Result<()> {
    match non_static_lifetime(ty) {
        Some(at) => Err(Error::new(
            at,
            format!("a flow owns its values, and so does {what}; drop the lifetime"),
        )),
        None => Ok(()),
    }
}

/// One option behind a comma. An unknown one is skipped, so that the steps are
/// read.
fn option(input: ParseStream<'_>, flow: &mut Flow, errors: &mut Errors) -> syn::Result<()> {
    input.parse::<Token![,]>()?;
    // A comma before the colon.
    if input.peek(Token![:]) {
        return Ok(());
    }
    let key = input.call(Ident::parse_any).map_err(|error| {
        Error::new(
            error.span(),
            "an option of a flow has a name, such as `steps = 50`",
        )
    })?;
    let name = key.to_string();
    if !OPTIONS.contains(&&*name) {
        let options = format!("there are {}", list(OPTIONS));
        errors.push(Error::new(
            key.span(),
            unknown("a flow has no option", &name, OPTIONS, &options),
        ));
        skip_option(input);
        return Ok(());
    }
    // Looked up before the value is read: it would be read into the same slot.
    let is_parsed = match name.as_str() {
        "steps" => flow.steps.is_some(),
        "name" => flow.name.is_some(),
        _ => flow.krate.is_some(),
    };
    let read = if is_parsed {
        Err(Error::new(
            key.span(),
            format!("`{name}` is given more than once"),
        ))
    } else {
        value(input, flow, key)
    };
    if let Err(error) = read {
        errors.push(error);
        skip_option(input);
    }
    Ok(())
}

fn value(input: ParseStream<'_>, flow: &mut Flow, key: Ident) -> syn::Result<()> {
    let name = key.to_string();
    if input.parse::<Option<Token![=]>>()?.is_none() {
        let example = if name == "steps" { "50" } else { "…" };
        return Err(Error::new(
            key.span(),
            format!("`{name}` takes a value; write `{name} = {example}`"),
        ));
    }
    match name.as_str() {
        "steps" => fill(&mut flow.steps, key.clone(), integer(input, &key, 1)),
        "name" => fill(
            &mut flow.name,
            key.clone(),
            non_empty(text(input, &key, ""), &key),
        ),
        _ => crate_path::parse(input, key, &mut flow.krate),
    }
}

/// A single colon ends an option; `::` does not.
/// To the next comma, or to the colon that begins the steps.
fn skip_option(input: ParseStream<'_>) {
    let mut in_path = false;
    while !input.is_empty() && !input.peek(Token![,]) {
        if let Some((punct, _)) = input.cursor().punct() {
            let joint = punct.as_char() == ':' && punct.spacing() == Spacing::Joint;
            if punct.as_char() == ':' && !joint && !in_path {
                return;
            }
            in_path = joint;
        }
        let _: syn::Result<TokenTree> = input.parse();
    }
}

/// Two of one name would be two fields of one name.
fn parameters(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Vec<Parameter>> {
    let content = braces(input)?;
    let mut list = Vec::<Parameter>::new();
    items(&content, "parameter", errors, |input, errors| {
        let parameter: Parameter = input.parse()?;
        let ident = &parameter.ident;
        if list.iter().any(|other| other.ident == *ident) {
            errors.push(Error::new(
                ident.span(),
                format!("`{ident}` is given more than once"),
            ));
        } else {
            list.push(parameter);
        }
        Ok(())
    })?;
    Ok(list)
}
