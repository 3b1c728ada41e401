//! Refusals of the conversation that was sent: of ids of calls, and of what goes
//! back with the model's own messages.
//!
//! They come before all others, since their texts also name fields of the request
//! (`thinking`, `reasoning`, `tool`).

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnPart {
    /// The form of a call's id.
    CallId,
    /// Thoughts that were made behind another beginning of the conversation.
    BoundThoughts,
    /// The field of an assistant's message that has the reasoning.
    Reasoning,
    /// An assistant's message without the field, where the server wants it.
    NoReasoning,
    /// Gemini's word for its own tools beside functions.
    ServerToolsMark,
}

/// What a text says of a part that it does not take. `must be passed back` and `is
/// missing` say the contrary.
const REFUSES: [&str; 9] = [
    "not permitted",
    "extra_forbidden",
    "not supported",
    "unsupported",
    "not allowed",
    "unknown",
    "unrecognized",
    "unexpected",
    "cannot find field",
];

/// `text`: in lower case.
/// The order is from the most particular text to the most general.
pub(crate) fn refused_turn(param: &str, text: &str) -> Option<TurnPart> {
    if refuses_id(param, text) {
        return Some(TurnPart::CallId);
    }
    if refuses_bound_thoughts(text) {
        return Some(TurnPart::BoundThoughts);
    }
    if refuses_reasoning(param, text) {
        return Some(TurnPart::Reasoning);
    }
    if wants_reasoning(text) {
        return Some(TurnPart::NoReasoning);
    }
    refuses_server_tools_mark(text).then_some(TurnPart::ServerToolsMark)
}

/// An id that has no result, or none of its own, is another fault: it is in the
/// conversation, not in the id's form.
fn refuses_id(param: &str, text: &str) -> bool {
    let names = [
        "tool call id",
        "tool_call_id",
        "call_id",
        "tool_use_id",
        "tool_use.id",
        "tooluseid",
    ];
    let listed = [param, text]
        .iter()
        .any(|at| at.contains("tool_calls[") && at.contains("].id"));
    let is_id = listed
        || names
            .iter()
            .any(|name| text.contains(name) || param.contains(name));
    let forms = [
        "with a length of",
        "match pattern",
        "match the pattern",
        "regular expression",
        "string too long",
        "maximum length",
        "at most",
    ];
    is_id && forms.iter().any(|form| text.contains(form))
}

/// Anthropic: thoughts that were made behind another beginning of the conversation,
/// or the remedy that was sent for them.
fn refuses_bound_thoughts(text: &str) -> bool {
    [
        "bound to a different conversation",
        "thinking-binding-controls",
        "block_binding",
    ]
    .iter()
    .any(|phrase| text.contains(phrase))
}

/// The reasoning that other servers want back, in a message of the assistant.
fn refuses_reasoning(param: &str, text: &str) -> bool {
    let names = ["reasoning_content", "reasoning_details", "thinking_blocks"];
    let is_named = names
        .iter()
        .any(|name| text.contains(name) || param.contains(name));
    let is_in_messages = [param, text].iter().any(|at| {
        let is_field = at.contains(".reasoning") || at.contains("property 'reasoning");
        at.contains("messages") && is_field
    });
    (is_named || is_in_messages) && REFUSES.iter().any(|phrase| text.contains(phrase))
}

/// DeepSeek, of each message of the assistant; Kimi, of those with calls.
fn wants_reasoning(text: &str) -> bool {
    text.contains("reasoning_content")
        && ["must be passed back", "is missing", "is required"]
            .iter()
            .any(|phrase| text.contains(phrase))
}

/// Google's older endpoints, and gateways, which do not know the field. One that
/// wants it is asked with it already.
fn refuses_server_tools_mark(text: &str) -> bool {
    let names = [
        "includeserversidetoolinvocations",
        "include_server_side_tool_invocations",
    ];
    names.iter().any(|name| text.contains(name))
        && REFUSES.iter().any(|phrase| text.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_refuses_what_it_names() {
        use TurnPart::{BoundThoughts, CallId, NoReasoning, Reasoning, ServerToolsMark};
        for (text, expected) in [
            (
                "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
                Some(CallId),
            ),
            (
                "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
                Some(CallId),
            ),
            (
                "Invalid 'input[3].call_id': string too long. Expected a string with maximum \
                 length 64.",
                Some(CallId),
            ),
            (
                "An assistant message with 'tool_calls' must be followed by tool messages \
                 responding to each 'tool_call_id'.",
                None,
            ),
            ("No tool output found for function call call_1.", None),
            (
                "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound \
                 to a different conversation.",
                Some(BoundThoughts),
            ),
            (
                "Unexpected value(s) `thinking-binding-controls-2026-08-01` for the \
                 `anthropic-beta` header.",
                Some(BoundThoughts),
            ),
            (
                "thinking.adaptive.block_binding: Extra inputs are not permitted",
                Some(BoundThoughts),
            ),
            (
                "messages.1.content.0: Invalid `signature` in `thinking` block",
                None,
            ),
            (
                "body.messages.1.assistant.reasoning_content: Extra inputs are not permitted",
                Some(Reasoning),
            ),
            (
                "property 'messages.2.assistant.reasoning' is unsupported",
                Some(Reasoning),
            ),
            (
                "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' \
                 : property 'reasoning' is unsupported)]",
                Some(Reasoning),
            ),
            (
                "The `reasoning_content` in the thinking mode must be passed back to the API.",
                Some(NoReasoning),
            ),
            (
                "thinking is enabled but reasoning_content is missing in assistant tool call \
                 message at index 2",
                Some(NoReasoning),
            ),
            (
                "reasoning_content is required for assistant messages with tool calls",
                Some(NoReasoning),
            ),
            (
                "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
                None,
            ),
            (
                "Invalid JSON payload received. Unknown name \"includeServerSideToolInvocations\" \
                 at 'tool_config': Cannot find field.",
                Some(ServerToolsMark),
            ),
            (
                "Please enable tool_config.include_server_side_tool_invocations to use Built-in \
                 tools with Function calling.",
                None,
            ),
        ] {
            assert_eq!(refused_turn("", &text.to_lowercase()), expected, "{text}");
        }
    }
}
