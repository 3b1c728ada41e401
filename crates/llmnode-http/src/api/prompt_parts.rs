//! The parts of a request as it is sent, by their hashes. They are read from the
//! body itself, so that whatever an API's writer or a refusal changes is seen.
//! Marks of the cache are left out: they move along, and are no part of the prompt.

use std::borrow::Cow;
use std::collections::BTreeMap;

use llmnode_model::ApiKind;
use llmnode_model::ext::{PromptParts, ToolPart};
use llmnode_model::internal::fnv;
use serde_json::value::RawValue;

type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// A shorter prompt is kept by no provider's own host.
/// Below it, nothing was lost if a prompt changed.
pub(crate) const LEAST_BYTES: usize = 4 * 1_024;

/// The names of the same part in all APIs.
const FORMATS: [&str; 4] = [
    "response_format",
    "text",
    "output_config",
    "generationConfig",
];
const SYSTEMS: [&str; 3] = ["instructions", "system", "systemInstruction"];
const CONVERSATIONS: [&str; 3] = ["messages", "input", "contents"];
const SETTINGS: [&str; 5] = [
    "parallel_tool_calls",
    "reasoning",
    "reasoning_effort",
    "thinking",
    "verbosity",
];
const DESCRIPTION: &str = "description";

/// The marks as the writers of bodies write them. Within a text, their quotation marks are escaped.
/// Replaced as texts: parsing each message again would cost more than sending it.
const MARKS: [&str; 3] = [
    r#","cache_control":{"type":"ephemeral"}"#,
    r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#,
    r#","prompt_cache_breakpoint":{"mode":"explicit"}"#,
];

/// `None`: the body is not that of a model's request.
pub(crate) fn prompt_parts(body: &[u8], api: ApiKind, model: &str) -> Option<PromptParts> {
    let members: Members<'_> = serde_json::from_slice(body).ok()?;
    let conversation = CONVERSATIONS.iter().find_map(|name| members.get(*name))?;
    let mut parts = PromptParts {
        api,
        model: model.to_owned(),
        settings: hash_of(&members, &SETTINGS),
        tools: Vec::new(),
        format: hash_of(&members, &FORMATS),
        system: hash_of(&members, &SYSTEMS),
        messages: Vec::new(),
        numbers: Vec::new(),
    };
    if let Some(tools) = members.get("tools") {
        parts.tools = tool_parts(tools);
    }
    if SYSTEMS.iter().all(|name| !members.contains_key(*name)) {
        // It is the first message, if at all.
        parts.system = u32::MAX;
    }
    let messages: Vec<&RawValue> = serde_json::from_str(conversation.get()).ok()?;
    for (at, message) in messages.into_iter().enumerate() {
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        for hash in message_parts(message) {
            parts.messages.push(hash);
            parts.numbers.push(number);
        }
    }
    Some(parts)
}

/// Of all members with one of these names.
fn hash_of(members: &Members<'_>, names: &[&str]) -> u32 {
    let mut text = String::new();
    for name in names {
        if let Some(value) = members.get(*name) {
            text.push_str(name);
            text.push_str(&unmarked(value.get()));
        }
    }
    short(&text)
}

/// One for each function, with its description apart: a description that changes is
/// a frequent way to lose a cache.
fn tool_parts(tools: &RawValue) -> Vec<ToolPart> {
    let tools: Vec<Members<'_>> = serde_json::from_str(tools.get()).unwrap_or_default();
    let mut parts = Vec::with_capacity(tools.len());
    for tool in &tools {
        // Gemini has all functions in one tool, chat completions each in one.
        let several: Option<Vec<Members<'_>>> = within(tool, "functionDeclarations");
        let one: Option<Members<'_>> = within(tool, "function");
        match (several, one) {
            (Some(functions), _) => parts.extend(functions.iter().map(tool_part)),
            (None, Some(function)) => parts.push(tool_part(&function)),
            (None, None) => parts.push(tool_part(tool)),
        }
    }
    parts
}

fn within<'a, T: serde::Deserialize<'a>>(tool: &Members<'a>, name: &str) -> Option<T> {
    serde_json::from_str(tool.get(name)?.get()).ok()
}

fn tool_part(tool: &Members<'_>) -> ToolPart {
    // Tools of the provider have a type in place of a name.
    let name = ["name", "type"].iter().find_map(|member| tool.get(*member));
    let name = name.and_then(|name| serde_json::from_str(name.get()).ok());
    let description = tool.get(DESCRIPTION).map_or(0, |text| short(text.get()));
    let mut rest = String::new();
    for (member, value) in tool.iter().filter(|(member, _)| *member != DESCRIPTION) {
        rest.push_str(member);
        rest.push_str(&unmarked(value.get()));
    }
    ToolPart {
        name: name.unwrap_or_default(),
        description,
        schema: short(&rest),
    }
}

/// Each part of a message has a hash of its own: a later request may add to the last one.
/// What stands around the list, such as the role, is part of each.
fn message_parts(message: &RawValue) -> Vec<u32> {
    let members: Members<'_> = serde_json::from_str(message.get()).unwrap_or_default();
    let list = ["content", "parts"].iter().find_map(|name| {
        let parts: Vec<&RawValue> = serde_json::from_str(members.get(*name)?.get()).ok()?;
        Some((*name, parts))
    });
    let Some((list, parts)) = list else {
        return vec![short(&unmarked(message.get()))];
    };
    let mut around = String::new();
    for (name, value) in members.iter().filter(|(name, _)| *name != list) {
        around.push_str(name);
        around.push_str(value.get());
    }
    parts
        .iter()
        .map(|part| short(&format!("{around}{}", unmarked(part.get()))))
        .collect()
}

fn unmarked(json: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(json);
    for mark in MARKS {
        if text.contains(mark) {
            text = Cow::Owned(text.replace(mark, ""));
        }
    }
    text
}

/// Half a hash is enough to say that something changed.
fn short(text: &str) -> u32 {
    let hash = fnv(text.as_bytes());
    u32::try_from((hash ^ (hash >> 32)) & u64::from(u32::MAX)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(api: ApiKind, body: &Value) -> PromptParts {
        prompt_parts(body.to_string().as_bytes(), api, "m").unwrap()
    }

    #[test]
    fn marks_move_without_a_change() {
        let body = |mark: &str| {
            let text = format!(
                r#"{{"system":[{{"type":"text","text":"S"}}],"messages":[{{"role":"user","content":[{{"type":"text","text":"Hi"{mark}}}]}}]}}"#
            );
            prompt_parts(text.as_bytes(), ApiKind::Anthropic, "m").unwrap()
        };
        let [plain, marked] = ["", MARKS[0]].map(body);
        assert_eq!(plain.first_change(&marked), None);
    }

    #[test]
    fn the_tools_of_all_apis_are_found() {
        let schema = json!({"type": "object"});
        let function = json!({"name": "look", "description": "Looks.", "parameters": schema});
        let conversation = json!([{"role": "user", "content": "Hi"}]);
        let bodies = [
            (
                ApiKind::Chat,
                json!({"tools": [{"type": "function", "function": function}], "messages": conversation}),
            ),
            (
                ApiKind::Responses,
                json!({"tools": [function], "input": conversation}),
            ),
            (
                ApiKind::Anthropic,
                json!({"tools": [function], "messages": conversation}),
            ),
            (
                ApiKind::Gemini,
                json!({"tools": [{"functionDeclarations": [function]}], "contents": conversation}),
            ),
        ];
        for (api, body) in bodies {
            let parts = of(api, &body);
            assert_eq!(parts.tools[0].name, "look", "{api}");
            let text = body.to_string().replace("Looks.", "Looks up.");
            let later = prompt_parts(text.as_bytes(), api, "m").unwrap();
            let change = parts.first_change(&later).unwrap();
            assert_eq!(change.to_string(), "the description of `look`", "{api}");
        }
    }
}
