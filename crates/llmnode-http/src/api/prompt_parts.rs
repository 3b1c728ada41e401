//! The parts of a request as it is sent, by their hashes. They are read from the
//! body itself, so that whatever an API's writer or a refusal changes is seen.
//! Marks of the cache are left out: they move along, and are no part of the prompt.
//!
//! A turn of an agent nearly always adds messages to the request before it, and
//! changes nothing else. Then only what it adds is read ([`continued`]).

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

use llmnode_model::ApiKind;
use llmnode_model::ext::{PromptFrame, PromptParts, ToolPart};
use llmnode_model::internal::fnv;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

type Members<'a> = BTreeMap<Name<'a>, &'a RawValue>;

/// Borrowed where it has no escapes: serde borrows no `Cow` by itself.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl Borrow<str> for Name<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

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

const IN_ALL_MARKS: &[u8] = b"cache_";

/// `earlier`: the request before this one in its conversation. `None`: the body is
/// not that of a model's request.
pub(crate) fn prompt_parts(
    body: &[u8],
    api: ApiKind,
    model: &str,
    earlier: Option<&PromptParts>,
) -> Option<PromptParts> {
    let body = unmarked(body);
    let body = std::str::from_utf8(&body).ok()?;
    earlier
        .filter(|earlier| earlier.api == api && earlier.model == model)
        .and_then(|earlier| continued(earlier, body))
        .or_else(|| all_parts(body, api, model))
}

fn unmarked(body: &[u8]) -> Cow<'_, [u8]> {
    let mut unmarked = Cow::Borrowed(body);
    // Most bodies have none, and one look is enough.
    if memmem::find(body, IN_ALL_MARKS).is_none() {
        return unmarked;
    }
    for mark in MARKS {
        if let Some(without) = without(&unmarked, mark) {
            unmarked = Cow::Owned(without);
        }
    }
    unmarked
}

/// `None`: the mark is nowhere in the body.
fn without(body: &[u8], mark: &str) -> Option<Vec<u8>> {
    let mut kept = Vec::new();
    let mut begin = 0;
    for at in memmem::find_iter(body, mark) {
        kept.extend_from_slice(&body[begin..at]);
        begin = at + mark.len();
    }
    if begin == 0 {
        return None;
    }
    kept.extend_from_slice(&body[begin..]);
    Some(kept)
}

/// The parts of the request before, and those of the messages that this one adds.
/// `None`: something else has changed, or nobody knows.
fn continued(earlier: &PromptParts, body: &str) -> Option<PromptParts> {
    let before = earlier.frame?;
    let (begin, rest) = body.split_at_checked(before.begin)?;
    let (added, end) = rest.split_at_checked(rest.len().checked_sub(before.end)?)?;
    let mut hasher = hasher_of(begin, end);
    if hasher.finish() != before.hash {
        return None;
    }
    let mut parts = earlier.clone();
    let mut count = before.messages;
    if !added.is_empty() {
        let list = format!("[{}]", added.strip_prefix(',')?);
        let messages: Vec<&RawValue> = serde_json::from_str(&list).ok()?;
        count = add_messages(&mut parts, &messages, count);
    }
    hasher.write(added.as_bytes());
    parts.frame = Some(PromptFrame {
        begin: begin.len() + added.len(),
        end: end.len(),
        hash: hasher.finish(),
        messages: count,
    });
    Some(parts)
}

/// Of the body up to the end of its last message, and of the rest. What is added to
/// the messages can be written behind it.
fn hasher_of(begin: &str, end: &str) -> DefaultHasher {
    let mut hasher = DefaultHasher::new();
    hasher.write(end.as_bytes());
    hasher.write(begin.as_bytes());
    hasher
}

fn all_parts(body: &str, api: ApiKind, model: &str) -> Option<PromptParts> {
    let members: Members<'_> = serde_json::from_str(body).ok()?;
    let conversation = CONVERSATIONS.iter().find_map(|name| members.get(*name))?;
    let messages: Vec<&RawValue> = serde_json::from_str(conversation.get()).ok()?;
    let mut parts = PromptParts {
        api,
        model: model.to_owned(),
        settings: hash_of(&members, &SETTINGS),
        tools: Vec::new(),
        format: hash_of(&members, &FORMATS),
        system: hash_of(&members, &SYSTEMS),
        messages: Vec::with_capacity(messages.len()),
        numbers: Vec::with_capacity(messages.len()),
        frame: None,
    };
    if let Some(tools) = members.get("tools") {
        parts.tools = tool_parts(tools);
    }
    if SYSTEMS.iter().all(|name| !members.contains_key(*name)) {
        // It is the first message, if at all.
        parts.system = u32::MAX;
    }
    let count = add_messages(&mut parts, &messages, 0);
    // The bracket of the list is the first byte behind its messages.
    let bracket = end_within(body, conversation.get()).checked_sub(1)?;
    let (begin, end) = body.split_at_checked(bracket)?;
    parts.frame = Some(PromptFrame {
        begin: begin.len(),
        end: end.len(),
        hash: hasher_of(begin, end).finish(),
        messages: count,
    });
    Some(parts)
}

/// `part` must be a slice of `text`.
fn end_within(text: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(text.as_ptr().addr()) + part.len()
}

/// `before`: how many messages there are already. Returns how many there are then.
fn add_messages(parts: &mut PromptParts, messages: &[&RawValue], before: u32) -> u32 {
    let mut number = before;
    for message in messages {
        number = number.saturating_add(1);
        for hash in message_parts(message) {
            parts.messages.push(hash);
            parts.numbers.push(number);
        }
    }
    number
}

/// Of all members with one of these names.
fn hash_of(members: &Members<'_>, names: &[&str]) -> u32 {
    let mut text = String::new();
    for name in names {
        if let Some(value) = members.get(*name) {
            text.push_str(name);
            text.push_str(value.get());
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
    for (member, value) in tool.iter().filter(|(member, _)| member.0 != DESCRIPTION) {
        rest.push_str(&member.0);
        rest.push_str(value.get());
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
    hashes_of_parts(message.get()).unwrap_or_else(|| vec![short(message.get())])
}

/// `None`: the message has no list of parts.
fn hashes_of_parts(message: &str) -> Option<Vec<u32>> {
    if !message.contains('[') {
        return None;
    }
    let members: Members<'_> = serde_json::from_str(message).ok()?;
    let (list, value) = ["content", "parts"].iter().find_map(|name| {
        let value = members.get(*name)?.get();
        value.starts_with('[').then_some((*name, value))
    })?;
    let parts: Vec<&RawValue> = serde_json::from_str(value).ok()?;
    let mut around = String::new();
    for (name, value) in members.iter().filter(|(name, _)| name.0 != list) {
        around.push_str(&name.0);
        around.push_str(value.get());
    }
    let hashes = parts
        .iter()
        .map(|part| short(&format!("{around}{}", part.get())));
    Some(hashes.collect())
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
        prompt_parts(body.to_string().as_bytes(), api, "m", None).unwrap()
    }

    #[test]
    fn marks_move_without_a_change() {
        let body = |mark: &str| {
            let text = format!(
                r#"{{"system":[{{"type":"text","text":"S"}}],"messages":[{{"role":"user","content":[{{"type":"text","text":"Hi"{mark}}}]}}]}}"#
            );
            prompt_parts(text.as_bytes(), ApiKind::Anthropic, "m", None).unwrap()
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
            let later = prompt_parts(text.as_bytes(), api, "m", None).unwrap();
            let change = parts.first_change(&later).unwrap();
            assert_eq!(change.to_string(), "the description of `look`", "{api}");
        }
    }

    fn sent(body: &str, earlier: Option<&PromptParts>) -> PromptParts {
        prompt_parts(body.as_bytes(), ApiKind::Chat, "m", earlier).unwrap()
    }

    fn with_messages(messages: &[&str], end: &str) -> String {
        format!(
            r#"{{"model":"m","messages":[{}]{end}}}"#,
            messages.join(",")
        )
    }

    const MESSAGES: [&str; 4] = [
        r#"{"role":"system","content":"S"}"#,
        r#"{"role":"user","content":[{"type":"text","text":"a]"},{"type":"text","text":"b"}]}"#,
        r#"{"role":"assistant","content":[]}"#,
        r#"{"role":"tool","content":"],[{\"role\":\"user\"}","tool_call_id":"c"}"#,
    ];

    #[test]
    fn a_longer_conversation_has_the_parts_that_a_fresh_look_finds() {
        for end in ["", r#","stream":true"#] {
            let mut before: Option<PromptParts> = None;
            for count in 1..=MESSAGES.len() {
                let body = with_messages(&MESSAGES[..count], end);
                let continued = sent(&body, before.as_ref());
                assert_eq!(continued, sent(&body, None), "{body}");
                let again = sent(&body, Some(&continued));
                assert_eq!(again, continued, "the same request again");
                let is_read_on = before.is_none_or(|before| continued_from(&before, &body));
                assert!(is_read_on, "only what is new is read: {body}");
                before = Some(continued);
            }
        }
    }

    fn continued_from(before: &PromptParts, body: &str) -> bool {
        continued(before, body).is_some()
    }

    #[test]
    fn each_mark_is_looked_for() {
        for mark in MARKS {
            assert!(
                memmem::find(mark.as_bytes(), IN_ALL_MARKS).is_some(),
                "{mark}"
            );
        }
    }

    #[test]
    fn whatever_else_changes_is_read_anew() {
        let before = sent(&with_messages(&MESSAGES[..2], ""), None);
        let longer = with_messages(&MESSAGES[..3], "");
        for body in [
            longer.replace(r#""S""#, r#""T""#),
            longer.replace(r#""model":"m""#, r#""model":"n""#),
            with_messages(&MESSAGES[..3], r#","verbosity":"low""#),
            with_messages(&MESSAGES[1..], ""),
            with_messages(&MESSAGES[..1], ""),
            // What stands before and behind is the same, and in between is no message.
            longer.replace(
                r#"]},{"role":"assistant""#,
                r#"]}],"tools":[{"role":"assistant""#,
            ),
        ] {
            assert!(!continued_from(&before, &body), "{body}");
            assert_eq!(sent(&body, Some(&before)), sent(&body, None), "{body}");
        }
        let other_model = prompt_parts(longer.as_bytes(), ApiKind::Chat, "n", Some(&before));
        let change = before.first_change(&other_model.unwrap());
        assert_eq!(change.unwrap().to_string(), "the model");
    }

    /// A text that is no mark, since its quotation marks are escaped.
    #[test]
    fn marks_within_texts_are_part_of_the_prompt() {
        for mark in MARKS {
            let quoted = |text: &str| {
                let message = json!({"role": "user", "content": format!("a{text}b")});
                sent(&with_messages(&[&message.to_string()], ""), None)
            };
            let change = quoted("").first_change(&quoted(mark)).unwrap();
            assert_eq!(change.to_string(), "the system text");
            let marked = format!(r#"{{"role":"user","content":"a"{mark}}}"#);
            let plain = r#"{"role":"user","content":"a"}"#;
            let both = [marked.as_str(), plain].map(|one| with_messages(&[one, plain], ""));
            let [marked, plain] = both.map(|body| sent(&body, None));
            assert_eq!(marked, plain);
        }
    }
}
