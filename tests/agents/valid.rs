//! What is wrong with a request, by the providers' documents. Read in November 2026:
//! <https://platform.claude.com/docs/en/api/messages>, .../build-with-claude/extended-thinking, .../agents-and-tools/tool-use;
//! <https://ai.google.dev/api/generate-content>, .../gemini-api/docs/function-calling, .../gemini-api/docs/thought-signatures;
//! <https://platform.openai.com/docs/api-reference/chat/create>.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Collects faults, each with its place.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn unless(&mut self, holds: bool, place: &str, fault: &str) {
        if !holds {
            self.0.push(format!("{place}: {fault}"));
        }
    }

    /// An object of these members alone.
    fn members(&mut self, value: &Value, place: &str, known: &[&str]) {
        let Some(members) = value.as_object() else {
            return self.0.push(format!("{place}: no object"));
        };
        for name in members
            .keys()
            .filter(|name| !known.contains(&name.as_str()))
        {
            self.0.push(format!("{place}: a foreign member `{name}`"));
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn kinds<'a>(blocks: &'a [Value], kind: &str) -> Vec<&'a Value> {
    blocks
        .iter()
        .filter(|block| block["type"] == kind)
        .collect()
}

fn is_blank(value: &Value) -> bool {
    text(value).trim().is_empty()
}

/// `own`: the blocks of thinking that this provider gave.
pub(crate) fn anthropic(body: &Value, own: &[Value]) -> Vec<String> {
    let mut faults = Faults::default();
    faults.unless(body["model"].is_string(), "model", "missing");
    faults.unless(
        body["max_tokens"].as_u64().is_some_and(|most| most > 0),
        "max_tokens",
        "missing",
    );
    let messages = list(&body["messages"]);
    faults.unless(!messages.is_empty(), "messages", "empty");
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages[{at}]");
        faults.members(message, &place, &["role", "content"]);
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        faults.unless(
            message["role"] == role,
            &place,
            "the turns do not alternate",
        );
        let blocks = list(&message["content"]);
        faults.unless(!blocks.is_empty(), &place, "no content");
        for block in blocks {
            anthropic_block(&mut faults, block, &place, own);
        }
        for call in kinds(blocks, "tool_use") {
            faults.unless(role == "assistant", &place, "a call of the user");
            faults.unless(
                ids.insert(text(&call["id"]).to_owned()),
                &place,
                "an id is used twice",
            );
        }
        let called: Vec<&Value> = at.checked_sub(1).map_or(Vec::new(), |before| {
            kinds(list(&messages[before]["content"]), "tool_use")
                .iter()
                .map(|call| &call["id"])
                .collect()
        });
        let results = kinds(blocks, "tool_result");
        let answered: Vec<&Value> = results
            .iter()
            .map(|result| &result["tool_use_id"])
            .collect();
        faults.unless(
            called == answered,
            &place,
            "the results are not those of the calls before them",
        );
        let first = blocks
            .iter()
            .take(results.len())
            .all(|block| block["type"] == "tool_result");
        faults.unless(first, &place, "results come first");
    }
    if body["thinking"]["type"] == "enabled" {
        anthropic_thinking(&mut faults, body, messages);
    }
    faults.0
}

fn anthropic_block(faults: &mut Faults, block: &Value, place: &str, own: &[Value]) {
    match text(&block["type"]) {
        "text" => {
            faults.members(
                block,
                place,
                &["type", "text", "citations", "cache_control"],
            );
            faults.unless(!is_blank(&block["text"]), place, "blank text");
        }
        "tool_use" => {
            faults.members(
                block,
                place,
                &["type", "id", "name", "input", "cache_control", "caller"],
            );
            let id = text(&block["id"]);
            let letters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            faults.unless(
                (1..=64).contains(&id.len()) && id.bytes().all(letters),
                place,
                "an id is no id",
            );
            faults.unless(block["input"].is_object(), place, "an input is no object");
        }
        "tool_result" => {
            faults.members(
                block,
                place,
                &[
                    "type",
                    "tool_use_id",
                    "content",
                    "is_error",
                    "cache_control",
                ],
            );
            let failed = block["is_error"] == true;
            faults.unless(
                !failed || !list(&block["content"]).is_empty(),
                place,
                "a failure says nothing",
            );
        }
        "thinking" | "redacted_thinking" => {
            faults.unless(
                own.contains(block),
                place,
                "a thought that is not this provider's, or was changed",
            );
        }
        other => faults
            .0
            .push(format!("{place}: a block of the type {other:?}")),
    }
}

fn anthropic_thinking(faults: &mut Faults, body: &Value, messages: &[Value]) {
    let forced = matches!(text(&body["tool_choice"]["type"]), "any" | "tool");
    faults.unless(
        !forced,
        "tool_choice",
        "a call is forced of a model that thinks",
    );
    let ends_with_results = messages
        .last()
        .is_some_and(|last| !kinds(list(&last["content"]), "tool_result").is_empty());
    let last = messages
        .iter()
        .rev()
        .find(|message| message["role"] == "assistant")
        .filter(|_| ends_with_results);
    if let Some(last) = last {
        let begins = matches!(
            text(&last["content"][0]["type"]),
            "thinking" | "redacted_thinking"
        );
        faults.unless(begins, "the last turn", "it does not begin with thinking");
    }
}

/// `own`: the signatures that this provider gave.
pub(crate) fn gemini(body: &Value, own: &[&str]) -> Vec<String> {
    let mut faults = Faults::default();
    let known = [
        "contents",
        "systemInstruction",
        "tools",
        "toolConfig",
        "generationConfig",
        "safetySettings",
    ];
    faults.members(body, "body", &known);
    let contents = list(&body["contents"]);
    faults.unless(!contents.is_empty(), "contents", "empty");
    for (at, content) in contents.iter().enumerate() {
        let place = format!("contents[{at}]");
        faults.members(content, &place, &["role", "parts"]);
        let role = if at % 2 == 0 { "user" } else { "model" };
        faults.unless(
            content["role"] == role,
            &place,
            "the turns do not alternate",
        );
        let parts = list(&content["parts"]);
        faults.unless(!parts.is_empty(), &place, "no parts");
        for part in parts {
            gemini_part(&mut faults, part, &place, own);
        }
        let calls: Vec<&Value> = parts
            .iter()
            .filter_map(|part| part.get("functionCall"))
            .collect();
        if calls.is_empty() {
            continue;
        }
        let signed = parts.iter().find(|part| part.get("functionCall").is_some());
        let signed = signed.is_some_and(|part| part.get("thoughtSignature").is_some());
        faults.unless(
            role == "model" && signed,
            &place,
            "its first call has no signature",
        );
        let results = contents
            .get(at + 1)
            .map_or(&[] as &[Value], |next| list(&next["parts"]));
        let named = |of: &Value| (of["id"].clone(), of["name"].clone());
        let called: Vec<_> = calls.iter().map(|call| named(call)).collect();
        let answered: Vec<_> = results
            .iter()
            .map(|part| named(&part["functionResponse"]))
            .collect();
        faults.unless(
            called == answered,
            &place,
            "results and calls are not the same",
        );
    }
    faults.0
}

fn gemini_part(faults: &mut Faults, part: &Value, place: &str, own: &[&str]) {
    const DATA: [&str; 5] = [
        "text",
        "functionCall",
        "functionResponse",
        "inlineData",
        "fileData",
    ];
    let beside = ["thought", "thoughtSignature", "partMetadata"];
    faults.members(part, place, &[&DATA[..], &beside[..]].concat());
    let none = Map::new();
    let members = part.as_object().unwrap_or(&none);
    let count = members
        .keys()
        .filter(|name| DATA.contains(&name.as_str()))
        .count();
    faults.unless(count == 1, place, "a part has one kind of data");
    faults.unless(
        part.get("text").is_none_or(|text| !is_blank(text)),
        place,
        "blank text",
    );
    faults.members(
        part.get("functionCall")
            .unwrap_or(&Value::Object(Map::new())),
        place,
        &["id", "name", "args"],
    );
    let response = part.get("functionResponse");
    faults.unless(
        response.is_none_or(|one| one["response"].is_object()),
        place,
        "a result is no object",
    );
    if let Some(signature) = part.get("thoughtSignature").map(text) {
        let known = own.contains(&signature) || signature == "skip_thought_signature_validator";
        faults.unless(known, place, "a signature of another provider");
    }
}

pub(crate) fn chat(body: &Value) -> Vec<String> {
    let mut faults = Faults::default();
    faults.unless(body["model"].is_string(), "model", "missing");
    let messages = list(&body["messages"]);
    faults.unless(!messages.is_empty(), "messages", "empty");
    let mut open: Vec<&str> = Vec::new();
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages[{at}]");
        faults.members(
            message,
            &place,
            &["role", "content", "tool_calls", "tool_call_id"],
        );
        let calls = list(&message["tool_calls"]);
        match text(&message["role"]) {
            "tool" => {
                let id = text(&message["tool_call_id"]);
                let was_open = open.contains(&id);
                open.retain(|one| *one != id);
                faults.unless(was_open, &place, "the result of no call");
                faults.unless(message["content"].is_string(), &place, "no content");
            }
            "assistant" => {
                faults.unless(open.is_empty(), &place, "calls have no results");
                faults.unless(
                    !calls.is_empty() || message["content"].is_string(),
                    &place,
                    "no content",
                );
            }
            "system" | "developer" | "user" => {
                faults.unless(open.is_empty(), &place, "calls have no results");
                faults.unless(!is_blank(&message["content"]), &place, "blank content");
            }
            other => faults.0.push(format!("{place}: a message of {other:?}")),
        }
        for call in calls {
            faults.members(call, &place, &["type", "id", "function"]);
            faults.members(&call["function"], &place, &["name", "arguments"]);
            let arguments = serde_json::from_str::<Value>(text(&call["function"]["arguments"]));
            faults.unless(
                arguments.is_ok_and(|all| all.is_object()),
                &place,
                "arguments are no object",
            );
            let id = text(&call["id"]);
            faults.unless(
                !id.is_empty() && ids.insert(id),
                &place,
                "an id is missing or used twice",
            );
            open.push(id);
        }
    }
    faults.unless(open.is_empty(), "messages", "calls have no results");
    faults.0
}
