//! The grammar of `recover(…)`.
//!
//! ```text
//! recover = key = "[" step { , step } "]" { , key = .. }
//! step    = retry(times [, wait]) | repair(times) | model("name") | fallback | bubble
//! ```
//!
//! The most frequent mistake is a step where a category belongs
//! (`recover(retry(2))`). These are taken out before the arguments are parsed, and
//! reported with the category that the step is for.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, Token, token};

use super::keys::{CATEGORIES, Group, LIMIT};
use super::{Action, Stack, Step};
use crate::diagnostics::{Errors, list, unknown};
use crate::literals::{integer_with_example, non_empty, text};
use crate::macro_args::{Grammar, comma_or_end, parse_arguments, parse_list};
use crate::time::Wait;

/// In the order in which a stack mostly has them.
const STEPS: [&str; 5] = ["retry", "repair", "model", "fallback", "bubble"];

/// The stacks that were read, and all faults. A stack whose steps are wrong is
/// there without them: it still replaces the default.
pub(crate) fn parse(input: ParseStream<'_>) -> (Option<Vec<Stack>>, syn::Result<()>) {
    let tokens: TokenStream = match input.parse() {
        Ok(tokens) => tokens,
        Err(error) => return (Some(vec![]), Err(error)),
    };
    let keys: Vec<_> = ["answer", "transport", "final"]
        .into_iter()
        .chain(recoverable())
        .collect();
    let grammar = Grammar {
        noun: "category",
        example,
        hint,
        ..Grammar::of_values("recover", &keys)
    };
    let mut errors = Errors::default();
    let mut stacks = vec![];
    let (tokens, strays) = strays(tokens);
    if let Some(first) = strays.first() {
        errors.push(Error::new(first.span(), stray(&first.to_string())));
    }
    // A stray stands for a stack of unknown steps, so that `fallback` is not
    // reported as never called.
    stacks.extend(strays.into_iter().map(|key| Stack {
        at: key.span(),
        key,
        group: Group::Stop,
        steps: None,
    }));
    parse_arguments(tokens, &grammar, &mut errors, |key, input| {
        let (stack, result) = stack(key, input)?;
        stacks.push(stack);
        result
    });
    (Some(stacks), errors.into_result())
}

/// Takes out arguments that begin with a step where a category has to be.
/// Token by token: an argument begins at the start or behind a comma, and brackets
/// are one token.
fn strays(tokens: TokenStream) -> (TokenStream, Vec<Ident>) {
    let mut kept = TokenStream::new();
    let mut strays = vec![];
    let mut begins = true;
    let mut drops = false;
    for token in tokens {
        if let TokenTree::Ident(name) = &token
            && begins
        {
            drops = STEPS.iter().any(|step| name == step);
            strays.extend(drops.then(|| name.clone()));
        }
        begins = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
        kept.extend((!drops).then_some(token));
    }
    (kept, strays)
}

/// The message, with the group that the step is for.
fn stray(step: &str) -> String {
    let (key, written) = match step {
        "retry" => ("transport", "retry(2)"),
        "repair" => ("answer", "repair(2)"),
        "model" => ("answer", "model(\"small\")"),
        alone => ("answer", alone),
    };
    format!(
        "`{step}` is a step, which goes into the brackets of a category or group; write `{key} = \
         [{written}]`"
    )
}

/// Words that are known and cannot be used here, and categories without their
/// ending.
fn hint(name: &str) -> Option<String> {
    if name == "stop" {
        return Some(format!(
            "only `{LIMIT}` of the group `stop` can be recovered; name that one, or drop it"
        ));
    }
    if is_of_group(name, Group::Node) {
        return Some(format!(
            "`{name}` is an error of nodes without a model; drop it"
        ));
    }
    if is_of_group(name, Group::Stop) {
        let message = "means that the program itself ended the call; no step helps, so drop it";
        return Some(format!("`{name}` {message}"));
    }
    let near = recoverable().find(|category| stem(category) == stem(name))?;
    Some(format!("unknown category `{name}`; did you mean `{near}`?"))
}

/// Whether the word is a category of the group.
fn is_of_group(name: &str, group: Group) -> bool {
    CATEGORIES
        .iter()
        .any(|(category, its_group)| *category == name && *its_group == group)
}

/// What is left of `RateLimitError` and of `rate_limit`, so that they are found equal.
fn stem(name: &str) -> String {
    name.replace('_', "").to_lowercase().replace("error", "")
}

/// The categories that a stack may be for.
fn recoverable() -> impl Iterator<Item = &'static str> {
    CATEGORIES
        .iter()
        .filter(|(name, group)| !matches!(group, Group::Node | Group::Stop) || *name == LIMIT)
        .map(|(name, _)| *name)
}

/// The group of a key, which may be a group itself. An unknown one was reported.
fn group(name: &str) -> Group {
    match name {
        "answer" => Group::Answer,
        "transport" => Group::Transport,
        "final" => Group::Final,
        _ => CATEGORIES
            .iter()
            .find(|(category, _)| *category == name)
            .map_or(Group::Stop, |(_, group)| *group),
    }
}

/// A stack that makes sense for the key.
fn example(key: &str) -> &'static str {
    match group(key) {
        Group::Answer => "[repair(2)]",
        Group::Transport => "[retry(2)]",
        Group::Final => "[model(\"other\"), bubble]",
        Group::Node | Group::Stop => "[fallback]",
    }
}

/// `[step, ..]`. The outer result is about the brackets, the inner about the steps
/// in them, of which a stack remains.
fn stack(key: Ident, input: ParseStream<'_>) -> syn::Result<(Stack, syn::Result<()>)> {
    if !input.peek(token::Bracket) {
        let message = format!(
            "`{key}` takes its steps in brackets; write `{key} = {}`",
            example(&key.to_string())
        );
        return Err(input.error(message));
    }
    let content;
    let brackets = syn::bracketed!(content in input);
    let (steps, result) = steps(&content);
    let steps = result.is_ok().then_some(steps);
    let group = group(&key.to_string());
    Ok((
        Stack {
            key,
            group,
            at: brackets.span.join(),
            steps,
        },
        result,
    ))
}

/// Reads on behind a fault.
fn steps(input: ParseStream<'_>) -> (Vec<Step>, syn::Result<()>) {
    let mut steps = vec![];
    let result = parse_list(input, |input| {
        steps.push(step(input)?);
        comma_or_end(input, "step")
    });
    (steps, result)
}

/// The name decides what is in the parentheses.
fn step(input: ParseStream<'_>) -> syn::Result<Step> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error(format!("a step is one of {}", list(STEPS))));
    }
    let name = input.call(Ident::parse_any)?;
    let written = match name.to_string().as_str() {
        "retry" => "retry(2)` or `retry(2, 1s..60s)",
        "repair" => "repair(2)",
        "model" => "model(\"small\")",
        "fallback" | "bubble" => return alone(name, input),
        other => {
            let steps_text = format!("the steps are {}", list(STEPS));
            return Err(Error::new(
                name.span(),
                unknown("unknown step", other, STEPS, &steps_text),
            ));
        }
    };
    if !input.peek(token::Paren) {
        return Err(lacks_arguments(&name, written));
    }
    let content;
    syn::parenthesized!(content in input);
    if content.is_empty() {
        return Err(lacks_arguments(&name, written));
    }
    let action = action(&name, written, &content);
    // Unread tokens would be a second error.
    content.parse::<TokenStream>()?;
    action.map(|action| Step { name, action })
}

fn lacks_arguments(name: &Ident, written: &str) -> Error {
    Error::new(
        name.span(),
        format!("`{name}` lacks its arguments; write `{written}`"),
    )
}

/// Nothing may follow but a comma.
fn end(name: &Ident, written: &str, input: ParseStream<'_>) -> syn::Result<()> {
    match input.parse::<Option<Token![,]>>() {
        Ok(_) if input.is_empty() => Ok(()),
        _ => Err(input.error(format!("`{name}` takes nothing more; write `{written}`"))),
    }
}

/// `fallback` and `bubble` have nothing to say.
fn alone(name: Ident, input: ParseStream<'_>) -> syn::Result<Step> {
    if input.peek(token::Paren) {
        return Err(input.error(format!(
            "`{name}` takes nothing; write it without parentheses"
        )));
    }
    let action = if name == "fallback" {
        Action::Fallback
    } else {
        Action::Bubble
    };
    Ok(Step { name, action })
}

/// What is in the parentheses of the three others.
fn action(name: &Ident, written: &str, input: ParseStream<'_>) -> syn::Result<Action> {
    if name == "model" {
        let model = non_empty(text(input, name, ""), name)?;
        return end(name, written, input).map(|()| Action::Model(model));
    }
    let times = integer_with_example(input, name, 1, written)?;
    if name == "repair" {
        return end(name, written, input).map(|()| Action::Repair { times });
    }
    let comma: Option<Token![,]> = input.parse()?;
    let wait = if comma.is_some() && !input.is_empty() {
        Some(Wait::parse(input)?)
    } else {
        None
    };
    end(name, written, input).map(|()| Action::Retry { times, wait })
}
