//! The macros of llmnode; use them through the `llmnode` crate.
//!
//! Each macro goes the same way, the larger ones in a file for each step: *parse*
//! (tokens to arguments), *check* (arguments and item to a model that is right),
//! *emit* (the model to tokens). Whatever is wrong is collected, and reported in
//! one run with the place of each fault. Then the item is emitted with *stub* impls
//! in place of the real ones: its uses compile, so the faults are the only errors
//! that people see.
//!
//! What is emitted states facts: constants, the text of a prompt, a list of checks.
//! Behaviour is in the runtime, where it is compiled once and can be tested. What a
//! macro cannot know of a type it asks the compiler, by probes (`docs/probes.md`).
//!
//! - Tokens of the user keep their spans, and what is generated about a field has
//!   the span of that field: that decides what the compiler underlines.
//! - A macro opens prompt files and `Cargo.toml`, no source file of the program,
//!   and starts no process.
//! - Expansions are pinned in `expansions`, messages in `tests/ui`: a change of
//!   either is meant, or a fault.

#[macro_use]
mod generated;

mod action;
mod cfg;
mod choices;
mod crate_path;
mod description;
mod diagnostics;
mod expression;
mod flow;
mod generics;
mod ide;
mod item;
mod literals;
mod macro_args;
mod manifest;
mod names;
mod node;
mod output;
mod prompt;
mod settings;
mod step_impl;
mod time;
mod tool;
mod validate;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;

/// Makes a struct a node: a typed call to a language model, whose prompt names the struct's fields.
///
/// The crate `llmnode` documents its arguments.
#[proc_macro_attribute]
pub fn llm_node(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand_attribute("llm_node", node::expand, arguments, item)
}

/// Makes a struct or an enum the output of nodes: derives `Serialize`,
/// `Deserialize` and `JsonSchema`, and runs the validators of its fields.
///
/// Arguments: `state = World` for validators of fields that take a state, `crate = ::path`.
#[proc_macro_attribute]
pub fn llm_output(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand_attribute("llm_output", output::expand, arguments, item)
}

/// Makes every method of an `impl` block a validator of its type.
///
/// On a definition with its own derives, written as `#[llmnode::validate]`, it runs
/// the validators of the fields. Arguments: `state`, `crate = ::path`.
#[proc_macro_attribute]
pub fn validate(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand_attribute("validate", validate::expand, arguments, item)
}

/// Makes one `impl` of `Step` or `BatchStep` a whole step that is written by hand.
/// All items of `Node`, `Exec` and the step are in one `impl`. Argument: `crate = ::path`.
#[proc_macro_attribute]
pub fn step(arguments: TokenStream, item: TokenStream) -> TokenStream {
    step_impl::expand(arguments.into(), item.into()).into()
}

/// Makes a function a tool: a node that a model may call, whose arguments the model writes.
///
/// Arguments: `name`, `alone`, `require_approval`, `attempts`, `wait`, `deadline`,
/// `idempotent = false`, `crate = ::path`.
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(arguments.into(), item.into()).into()
}

/// Declares a flow: its steps, and which one follows each.
///
/// `flow! { pub Name(State) -> Action { parameters }, steps = 50: First => Second, Second => end }`
#[proc_macro]
pub fn flow(tokens: TokenStream) -> TokenStream {
    flow::expand(tokens.into()).into()
}

/// Makes an enum the action of a step: what the step decides.
#[proc_macro_derive(Action, attributes(action))]
pub fn action(item: TokenStream) -> TokenStream {
    action::expand(item.into()).into()
}

/// `#[derive(LlmNode)]`, which some write before they have read how it is done: its error says so.
#[doc(hidden)]
#[proc_macro_derive(LlmNode, attributes(node))]
pub fn no_derive(item: TokenStream) -> TokenStream {
    let _ = item;
    let message = "a node is no derive; write `#[llm_node(prompt = \"…\")]` above the struct";
    syn::Error::new(proc_macro2::Span::call_site(), message)
        .into_compile_error()
        .into()
}

fn expand_attribute(
    name: &str,
    expand: fn(Tokens, Tokens) -> Tokens,
    arguments: TokenStream,
    item: TokenStream,
) -> TokenStream {
    let arguments = Tokens::from(arguments);
    let item = Tokens::from(item);
    let mut expansion = ide::completion_imports(name, &arguments, &item);
    let expanded = expand(arguments.clone(), item.clone());
    expansion.extend(ide::with_own_places(&[&arguments, &item], expanded));
    expansion.into()
}
