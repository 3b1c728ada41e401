//! `call_tool`, which calls tools that are not listed: the call that it contains,
//! and back.
//!
//! A call is unwrapped where it comes in, before anything else looks at it, so that
//! limits, approvals, records and journals see the tool that runs. It is wrapped
//! again where it goes back to the model: providers compare their own answers.

use llmnode_model::ext::{CALL_TOOL, SEARCH_TOOLS};
use llmnode_model::{Request, ToolCall};
use serde_json::Value;

/// Replaces calls of `call_tool` by those that they contain, if there are such tools.
pub(in crate::run::tools) fn unwrapped(
    mut calls: Vec<ToolCall>,
    request: &Request,
) -> Vec<ToolCall> {
    if request.all_tools.is_none() {
        return calls;
    }
    for call in &mut calls {
        if call.name == CALL_TOOL {
            unwrap_call(call, request);
        }
    }
    calls
}

fn unwrap_call(call: &mut ToolCall, request: &Request) {
    let Some(name) = called_name(&call.arguments) else {
        return;
    };
    if !request.callable().iter().any(|tool| tool.name == name) {
        return;
    }
    let arguments = called_arguments(&call.arguments);
    call.name = name;
    call.through = Some(std::mem::replace(&mut call.arguments, arguments));
}

/// The name of the tool that a call of `call_tool` contains.
pub(in crate::run) fn called_name(arguments: &str) -> Option<String> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    let name = arguments.get("name")?;
    let name = name.as_str()?.trim();
    Some(name.to_owned())
}

/// Some models write the arguments as a text, and some leave out an empty object.
fn called_arguments(arguments: &str) -> String {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    match arguments.get("arguments") {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(arguments) => arguments.to_string(),
    }
}

/// The call as the model wrote it, which has to go back to it.
pub(in crate::run::tools) fn as_written(call: &ToolCall) -> ToolCall {
    match &call.through {
        Some(written) => ToolCall::new(&*call.id, CALL_TOOL, &**written),
        None => call.clone(),
    }
}

/// Whether the call is one of the tools of this room.
pub(in crate::run::tools) fn is_search(call: &ToolCall, request: &Request) -> bool {
    request.all_tools.is_some() && matches!(&*call.name, SEARCH_TOOLS | CALL_TOOL)
}

/// The name of the search, if there is one.
pub(in crate::run) fn search_name(request: &Request) -> Option<&'static str> {
    request.all_tools.as_ref().map(|_| SEARCH_TOOLS)
}
