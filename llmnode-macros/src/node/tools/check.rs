//! Checks the tools of a node, and a node that is a tool.

use syn::{Error, ItemStruct, Type};

use crate::description::doc_text;
use crate::generics::last_name;
use crate::macro_args::{key, value};
use crate::node::args::NodeArgs;
use crate::node::faults::Faults;
use crate::node::field::{Mark, Role};
use crate::tool::check_tool_name;

/// If `#[tool]` stayed, its own error would be at another place.
/// Taken off before all else.
pub(crate) fn refuse_attribute(item: &mut ItemStruct, faults: &mut Faults) {
    for attribute in item
        .attrs
        .extract_if(.., |attribute| attribute.path().is_ident("tool"))
    {
        let message = "`#[tool]` goes on a function; on a node, write the word `tool` instead: \
                       `#[llm_node(tool, …)]`";
        faults.push(Error::new_spanned(attribute, message));
    }
}

/// Two roles: a node that has tools, then a node that is one.
pub(crate) fn check(args: &NodeArgs, item: &ItemStruct, marks: &[Mark], faults: &mut Faults) {
    if let Some(tool) = value(&args.tools).and_then(|tools| {
        tools
            .iter()
            .find(|tool: &&Type| last_name(tool).is_some_and(|name| *name == item.ident))
    }) {
        let message =
            "a node cannot be its own tool: it would call itself forever; drop it from the list";
        faults.push(Error::new_spanned(tool, message));
    }
    // The settings of a conversation with tools say nothing about a node without.
    let set = marks.iter().find_map(|mark| mark.span(Role::Tools));
    if key(&args.tools).is_none() && set.is_none() && !has_toolset(item) {
        let turns = key(&args.turns).map(|key| (key, "counts the responses"));
        let reads = key(&args.calls_in_text).map(|key| (key, "says how to read the answers"));
        for (key, what) in turns.into_iter().chain(reads) {
            let message = format!(
                "`{key}` {what} of a node with tools; add `tools = [..]` or a field \
                 `#[node(tools)] tools: Toolset`, or drop `{key}`"
            );
            faults.push(Error::new(key.span(), message));
        }
    }
    if args.tool.is_none() {
        return;
    }
    if let Some(at) = set {
        let message = "a model writes the fields of a tool, and cannot write tools; drop the \
                       field, or drop `tool`";
        faults.push(Error::new(at, message));
    }
    if let Some(Err(error)) = value(&args.name).cloned().map(check_tool_name) {
        faults.push(error);
    }
    // The description is the only thing by which a model chooses.
    if doc_text(&item.attrs).is_none() {
        let message =
            "a model chooses a tool by its description; write a doc comment above the struct";
        faults.push(Error::new(item.ident.span(), message));
    }
    if let Some(parameter) = item.generics.params.first() {
        let message = "a tool is read from JSON, so its struct has no lifetimes and is not \
                       generic; drop them, or drop `tool`";
        faults.push(Error::new_spanned(parameter, message));
    }
}

/// Also one that lacks `#[node(tools)]`, which is another fault.
fn has_toolset(item: &ItemStruct) -> bool {
    item.fields
        .iter()
        .any(|field| last_name(&field.ty).is_some_and(|name| name == "Toolset"))
}
