//! Parses the steps of a flow, and their targets.
//!
//! ```text
//! step   = Type { "{ field: value }" | "as Label" | "in state.part" } => ( target | match { arms } )
//! target = Label | end | end(value) | todo!()
//! ```
//!
//! Errors are worded here and not taken from syn, which would say "expected `=>`"
//! and leave open what the user wanted. Where a step is cut off, there is no token
//! left to underline, and the step itself is.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Error, Expr, Ident, Pat, Path, Token, Type, parenthesized, token};

use super::parse_util::{braces, items, unconditional};
use super::syntax::{Arm, Exit, FlowStep, Target};
use crate::diagnostics::Errors;
use crate::generics::{bare, last_name};

pub(super) fn parse_step(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<FlowStep> {
    no_attributes(input, "a step")?;
    let at = input.span();
    let ty = step_type(input)?;
    // What follows the type may stand in any order, each once.
    let mut values = None;
    let mut label = None;
    let mut part = None;
    loop {
        if input.peek(token::Brace) && values.is_none() {
            values = Some(field_values(input, &ty)?);
        } else if input.peek(Token![as]) && label.is_none() {
            input.parse::<Token![as]>()?;
            let named = input.parse().map_err(|error: Error| {
                Error::new(error.span(), "expected a label for the step after `as`")
            })?;
            label = Some(named);
        } else if input.peek(Token![in]) && part.is_none() {
            input.parse::<Token![in]>()?;
            part = Some(input.parse()?);
        } else {
            break;
        }
    }
    // Without `as`, the step is called by its type's last name. A tuple of steps
    // has none, which `check.rs` reports.
    let label = label.or_else(|| last_name(&ty).cloned());
    if !input.peek(Token![=>]) {
        return Err(without_arrow(input, label.as_ref(), at));
    }
    input.parse::<Token![=>]>()?;
    let exit = if input.peek(Token![match]) {
        Exit::Match(arms(input, errors)?)
    } else {
        Exit::Arrow(target(input)?)
    };
    Ok(FlowStep {
        ty,
        values,
        part,
        label,
        exit,
    })
}

/// A path, or a tuple of steps that run in parallel.
fn step_type(input: ParseStream<'_>) -> syn::Result<Type> {
    let at = input.span();
    match input.call(Type::without_plus) {
        Ok(ty) if may_be_step(bare(&ty)) => Ok(ty),
        _ => {
            let message = "a step is a node or a flow, by its type, such as `Decide => Search`";
            Err(Error::new(at, message))
        }
    }
}

/// References, functions and the like are types, but none of a step; the compiler's
/// message for them would be about traits.
fn may_be_step(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.qself.is_none(),
        other => matches!(other, Type::Tuple(_)),
    }
}

/// `{ goal: state.goal.clone() }`, which a tuple of steps cannot have.
fn field_values(input: ParseStream<'_>, ty: &Type) -> syn::Result<TokenStream> {
    let at = input.span();
    let fields = braces(input)?.parse::<TokenStream>()?;
    // The fields are kept as tokens, since they go into a struct expression of the
    // same form. Parsed here once, to report what is none.
    let is_literal = syn::parse2::<syn::ExprStruct>(quote!(Step { #fields })).is_ok();
    if is_literal && !matches!(bare(ty), Type::Tuple(_)) {
        return Ok(fields);
    }
    let message = "braces after a step set its fields, such as `{ goal: state.goal.clone() }`";
    Err(Error::new(at, message))
}

/// At the step itself if nothing follows it, since there is no token to underline.
fn without_arrow(input: ParseStream<'_>, label: Option<&Ident>, step: Span) -> Error {
    let shown = label.map_or("it".to_owned(), ToString::to_string);
    let message = format!(
        "expected the next step: write `{shown} => end`, or the label of the step that follows"
    );
    let ends = input.is_empty() || input.peek(Token![,]);
    Error::new(if ends { step } else { input.span() }, message)
}

/// Doc comments are allowed and dropped: people comment their steps.
fn no_attributes(input: ParseStream<'_>, of: &str) -> syn::Result<()> {
    match unconditional(input)?
        .iter()
        .find(|attribute| !attribute.path().is_ident("doc"))
    {
        Some(other) => Err(Error::new_spanned(
            other,
            format!("{of} takes no attributes; drop it"),
        )),
        None => Ok(()),
    }
}

/// The braces of a `match`. What stands between `match` and them is refused and
/// passed over: a `match` always has the action of its step before it.
fn arms(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Vec<Arm>> {
    let keyword: Token![match] = input.parse()?;
    if !input.peek(token::Brace) {
        let at = if input.is_empty() {
            keyword.span
        } else {
            input.span()
        };
        errors.push(Error::new(
            at,
            "`match` always matches the action of the step; write `match { … }`",
        ));
        while !input.is_empty() && !input.peek(token::Brace) && !input.peek(Token![,]) {
            input.parse::<TokenTree>()?;
        }
        if !input.peek(token::Brace) {
            return Ok(vec![]);
        }
    }
    let content = braces(input)?;
    let mut arms = vec![];
    items(&content, "arm", errors, |input, errors| {
        arms.push(arm(input, errors)?);
        Ok(())
    })?;
    Ok(arms)
}

/// At the arm, or where it breaks off.
fn no_arm(at: Span) -> Error {
    Error::new(
        at,
        "an arm is written `Decision::Search => Search`: an action, and where it leads",
    )
}

/// Conditions are refused, but read, so that the arms behind are, too: what a flow
/// does next is decided by `post`, where it can be tested, and the flow shows the
/// decision.
fn arm(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Arm> {
    no_attributes(input, "an arm")?;
    let at = input.span();
    let pattern = input
        .call(Pat::parse_multi_with_leading_vert)
        .map_err(|_| no_arm(at))?;
    if input.peek(Token![if]) {
        let guard = input.span();
        errors.push(Error::new(
            guard,
            "an arm cannot have a condition; decide in `post` or `route`, and return another \
             action",
        ));
        input.parse::<Token![if]>()?;
        input
            .call(Expr::parse_without_eager_brace)
            .map_err(|_| no_arm(at))?;
    }
    if !input.peek(Token![=>]) {
        return Err(no_arm(if input.is_empty() { at } else { input.span() }));
    }
    input.parse::<Token![=>]>()?;
    Ok(Arm {
        pattern,
        target: target(input)?,
    })
}

fn no_target(at: Span) -> Error {
    Error::new(
        at,
        "an arrow leads to the label of a step, to `end`, or to `todo!()`",
    )
}

/// A path is read first, since all four forms begin with one.
fn target(input: ParseStream<'_>) -> syn::Result<Target> {
    let at = input.span();
    // `todo!` needs the macro's name again.
    let begin = input.fork();
    let Ok(path) = input.call(Path::parse_mod_style) else {
        return Err(no_target(at));
    };
    if path.is_ident("todo") && input.peek(Token![!]) {
        let todo: syn::Macro = begin.parse().map_err(|_| no_target(at))?;
        input.advance_to(&begin);
        return Ok(Target::Todo(todo.into_token_stream()));
    }
    let Some(name) = path.get_ident() else {
        let last = path
            .segments
            .last()
            .map(|last| last.ident.to_string())
            .unwrap_or_default();
        let message = format!("an arrow leads to the label of a step; write `{last}`");
        return Err(Error::new_spanned(&path, message));
    };
    if name != "end" {
        label_alone(name, input)?;
        return Ok(Target::Step(name.clone()));
    }
    if !input.peek(token::Paren) {
        return Ok(Target::End(name.clone(), None));
    }
    let content;
    let parentheses = parenthesized!(content in input);
    let action = content.parse::<Expr>().ok().filter(|_| content.is_empty());
    // Unread tokens would be a second error.
    let _: syn::Result<TokenStream> = content.parse();
    match action {
        Some(action) => Ok(Target::End(name.clone(), Some(Box::new(action)))),
        None => Err(Error::new(
            parentheses.span.join(),
            "`end(…)` takes the value that the flow returns; a flow that returns nothing ends with \
             `end`",
        )),
    }
}

/// Refuses what belongs to the step, but is written behind an arrow's target.
/// Three mistakes that come from other languages of flows: a label where it is used
/// and not where it is given, type arguments, and values for the next step.
fn label_alone(label: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![as]) {
        let behind_as = input
            .cursor()
            .token_tree()
            .and_then(|(_, behind)| behind.ident());
        let new_label = behind_as.map_or("Label".to_owned(), |(name, _)| name.to_string());
        let message = format!(
            "an arrow leads to a label; name the step by `{label} as {new_label} => …`, and write \
             `{new_label}` here"
        );
        return Err(input.error(message));
    }
    if input.peek(Token![<]) {
        return Err(input.error(format!(
            "an arrow leads to the label of a step; write `{label}`"
        )));
    }
    if input.peek(token::Brace) || input.peek(token::Paren) {
        let message = format!(
            "an arrow passes no values, only `end(…)` does; let `post` write it to the state, and \
             let `{label}` read it from there"
        );
        return Err(input.error(message));
    }
    Ok(())
}

/// `r#type` and `type` are one label.
pub(super) fn text(label: &Ident) -> String {
    label.unraw().to_string()
}
