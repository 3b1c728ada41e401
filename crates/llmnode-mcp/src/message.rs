//! A server's message, mended so that a broken part costs that part alone.
//!
//! JSON comes in as a server wrote it, and goes out as rmcp reads it, which would
//! refuse a whole message for one member:
//! - of a list of tools, those that can be read, with what is used of them; the
//!   others are named under [`LEFT_OUT`];
//! - of a call's result, the blocks that can be read; a text in the place of each
//!   other one says what was left out; structured content is a text where there is
//!   none;
//! - of a handshake, the protocol's versions, since nothing else is used;
//! - of an error, its code and its text.
//!
//! Requests and notifications of a server pass as they are.

use llmnode_reader::ext::has_many_values;
use rmcp::model::{ContentBlock, InputRequiredResult, Tool};
use serde_json::{Map, Value, json};

use crate::{asks, clean};

/// In the `_meta` of a list: what was left out, each `{"name": .., "reason": ..}`.
pub(crate) const LEFT_OUT: &str = "llmnode/left_out";
/// In the `_meta` of a list: the names of those that are not left out here. The library that reads the list leaves out more of them.
pub(crate) const READABLE: &str = "llmnode/readable";
const MAX_NAME_BYTES: usize = 64;

/// The request that a message answers, where the transport knows it.
#[derive(Clone, Debug)]
pub(crate) struct Awaited {
    pub(crate) id: Value,
    /// `server/discover`, which older servers do not know.
    pub(crate) is_discovery: bool,
}

/// A message as a server wrote it. `None`: it is no JSON. One with so many values
/// that they would fill the memory is an error.
pub(crate) fn read(json: &[u8], awaited: Option<&Awaited>) -> Option<Value> {
    if has_many_values(json) {
        let error = error(-32603, "the message has too many values");
        return Some(answer(&Map::new(), awaited, "error", error));
    }
    serde_json::from_slice(json)
        .ok()
        .map(|message| mend(message, awaited))
}

pub(crate) fn mend(message: Value, awaited: Option<&Awaited>) -> Value {
    let Value::Object(mut members) = message else {
        return message;
    };
    if members.contains_key("method") {
        return Value::Object(members);
    }
    if let Some(error) = members.get("error").filter(|error| !error.is_null()) {
        let error = mended_error(error);
        return answer(&members, awaited, "error", error);
    }
    let Some(result) = members.remove("result") else {
        return Value::Object(members);
    };
    if awaited.is_some_and(|awaited| awaited.is_discovery) {
        return match discovery(&result) {
            Some(result) => answer(&members, awaited, "result", result),
            // Some old servers answer what they do not know with an empty object.
            None => answer(
                &members,
                awaited,
                "error",
                error(-32601, "does not know server/discover"),
            ),
        };
    }
    match mended_result(result) {
        Ok(result) => {
            members.insert("result".to_owned(), result);
            Value::Object(members)
        }
        Err(why) => answer(&members, awaited, "error", error(-32603, why)),
    }
}

/// A server that could not read the request does not know its id.
fn answer(
    members: &Map<String, Value>,
    awaited: Option<&Awaited>,
    kind: &str,
    content: Value,
) -> Value {
    let message_id = members.get("id").filter(|id| !id.is_null());
    let id = awaited.map(|awaited| &awaited.id).or(message_id);
    match id {
        Some(id) => json!({"jsonrpc": "2.0", "id": id, kind: content}),
        None => json!({"jsonrpc": "2.0", kind: content}),
    }
}

fn error(code: i64, message: &str) -> Value {
    json!({"code": code, "message": message})
}

fn mended_error(broken: &Value) -> Value {
    let text = broken.as_str().or_else(|| broken["message"].as_str());
    let text = text.map_or_else(|| broken.to_string(), str::to_owned);
    let code = broken["code"]
        .as_i64()
        .filter(|code| i32::try_from(*code).is_ok())
        .unwrap_or(-32603);
    let mut mended = error(code, &text);
    // The versions that it speaks.
    if let Some(supported) = broken["data"].get("supported") {
        mended["data"] = json!({"supported": strings(supported)});
    } else if broken["data"]["reason"] == asks::EXPIRED_STATE {
        mended["data"] = json!({"reason": asks::EXPIRED_STATE});
    }
    mended
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn discovery(result: &Value) -> Option<Value> {
    let versions = result
        .get("supportedVersions")
        .filter(|versions| versions.is_array())?;
    Some(json!({
        "resultType": "complete",
        "supportedVersions": strings(versions),
        "capabilities": {},
        "ttlMs": 0,
        "cacheScope": "private",
    }))
}

fn mended_result(result: Value) -> Result<Value, &'static str> {
    let Value::Object(members) = result else {
        return Ok(call(Map::from_iter([("content".to_owned(), result)])));
    };
    if let Some(version) = members
        .get("protocolVersion")
        .filter(|version| version.is_string())
    {
        let server_info = json!({"name": "server", "version": "0"});
        return Ok(
            json!({"protocolVersion": version, "capabilities": {}, "serverInfo": server_info}),
        );
    }
    if let Some(tools) = members
        .get("tools")
        .filter(|_| !members.contains_key("content"))
    {
        let tools = tools.as_array().ok_or("its list of tools is no list")?;
        return Ok(list(tools, members.get("nextCursor")));
    }
    match members.get("resultType") {
        Some(Value::String(kind)) if kind == "input_required" => questions(Value::Object(members)),
        // It has begun a task.
        Some(Value::String(kind)) if kind != "complete" => Ok(Value::Object(members)),
        _ => Ok(call(members)),
    }
}

/// The library that reads it would take a form that it cannot read for no answer at all.
fn questions(result: Value) -> Result<Value, &'static str> {
    match serde_json::from_value::<InputRequiredResult>(result.clone()) {
        Ok(_) => Ok(result),
        Err(_) => Err("it asks with a form that cannot be read"),
    }
}

fn list(tools: &[Value], cursor: Option<&Value>) -> Value {
    let mut readable = Vec::new();
    let mut left_out = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        match mended_tool(tool) {
            Ok(tool) => readable.push(tool),
            Err(reason) => left_out.push(json!({"name": name_of(tool, index), "reason": reason})),
        }
    }
    let names: Vec<&Value> = readable.iter().map(|tool| &tool["name"]).collect();
    let names = json!(names);
    let mut list = json!({"tools": readable});
    match cursor {
        Some(Value::String(cursor)) => list["nextCursor"] = json!(cursor),
        None | Some(Value::Null) => {}
        Some(cursor) => {
            let reason = format!("the rest of the list: its cursor is {cursor}, which is no text");
            left_out.push(json!({"name": "tools/list", "reason": reason}));
        }
    }
    list["_meta"] = json!({LEFT_OUT: left_out, READABLE: names});
    list
}

fn name_of(tool: &Value, index: usize) -> String {
    match tool["name"]
        .as_str()
        .map(|name| clean::without_hidden(name, MAX_NAME_BYTES))
    {
        Some(name) if !name.is_empty() => name,
        _ => format!("tool {}", index + 1),
    }
}

/// What is used of a tool. A title or hints that cannot be read cost nothing.
fn mended_tool(tool: &Value) -> Result<Value, String> {
    let name = tool["name"]
        .as_str()
        .filter(|name| !name.trim().is_empty())
        .ok_or("it has no name")?;
    let schema = match tool.get("inputSchema") {
        Some(schema) if schema.is_object() => schema,
        Some(schema) => {
            return Err(format!(
                "its inputSchema is {}, not an object",
                kind_of(schema)
            ));
        }
        None => return Err("it has no inputSchema".to_owned()),
    };
    let mut mended = json!({"name": name, "inputSchema": schema});
    for text in ["title", "description"] {
        if tool[text].is_string() {
            mended[text] = tool[text].clone();
        }
    }
    for hint in [
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    ] {
        if tool["annotations"][hint].is_boolean() {
            mended["annotations"][hint] = tool["annotations"][hint].clone();
        }
    }
    match serde_json::from_value::<Tool>(mended.clone()) {
        Ok(_) => Ok(mended),
        Err(_) => Err("it cannot be read".to_owned()),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn call(mut members: Map<String, Value>) -> Value {
    let blocks = match members.remove("content") {
        Some(Value::Array(blocks)) => blocks,
        None | Some(Value::Null) => Vec::new(),
        Some(block) => vec![block],
    };
    let has_text = blocks.iter().any(is_text);
    let mut blocks: Vec<Value> = blocks.into_iter().map(mended_block).collect();
    // A server that sends a text, too, should send the same in both.
    let structured = members
        .remove("structuredContent")
        .filter(|value| !value.is_null() && !has_text);
    if let Some(structured) = structured {
        blocks.insert(0, json!({"type": "text", "text": structured.to_string()}));
    }
    let is_error = members
        .get("isError")
        .is_some_and(|error| *error == true || *error == "true");
    json!({"content": blocks, "isError": is_error})
}

fn is_text(block: &Value) -> bool {
    let text = if block["type"] == "text" {
        &block["text"]
    } else {
        block
    };
    text.as_str().is_some_and(|text| !text.trim().is_empty())
}

fn mended_block(block: Value) -> Value {
    const KNOWN: [&str; 5] = ["text", "image", "audio", "resource", "resource_link"];
    let mut members = match block {
        Value::Object(members) => members,
        Value::String(text) => return text_block(text),
        other => {
            return text_block(format!(
                "[a block was left out: it is {}, not an object]",
                kind_of(&other)
            ));
        }
    };
    for unused in ["annotations", "_meta", "icons"] {
        members.remove(unused);
    }
    let kind = members.get("type").and_then(Value::as_str).map(clean::name);
    let block = Value::Object(members);
    if serde_json::from_value::<ContentBlock>(block.clone()).is_ok() {
        return block;
    }
    match kind {
        Some(kind) if KNOWN.contains(&kind.as_str()) => text_block(format!(
            "[a block of the type `{kind}` was left out: it cannot be read]"
        )),
        Some(kind) => text_block(format!(
            "[a block of the type `{kind}` was left out: no such type is known]"
        )),
        None => text_block("[a block was left out: it has no type]".to_owned()),
    }
}

fn text_block(text: String) -> Value {
    json!({"type": "text", "text": text})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(result: Value) -> Value {
        mend(json!({"jsonrpc": "2.0", "id": 1, "result": result}), None)["result"].take()
    }

    #[test]
    fn a_message_that_would_fill_the_memory_is_an_error_of_its_call() {
        let awaited = Awaited {
            id: json!(7),
            is_discovery: false,
        };
        let many = format!(
            r#"{{"id":7,"result":{{"content":[{}{{}}]}}}}"#,
            "{},".repeat(1_000_000)
        );
        let read = read(many.as_bytes(), Some(&awaited)).unwrap();
        assert_eq!(read["id"], 7);
        assert_eq!(read["error"]["message"], "the message has too many values");
    }

    #[test]
    fn a_list_keeps_what_can_be_read_and_says_what_cannot() {
        let schema = json!({"type": "object"});
        let list = result(json!({
            "tools": [
                {"name": "bad"},
                {"name": "null", "inputSchema": null},
                {"inputSchema": schema},
                "look",
                {"name": 5, "inputSchema": schema},
                {"name": "look", "inputSchema": schema, "annotations": 5, "icons": "x", "title": "Look", "description": {}},
            ],
            "nextCursor": 5,
            "ttlMs": "long",
        }));
        assert_eq!(
            list["tools"],
            json!([{"name": "look", "inputSchema": schema, "title": "Look"}])
        );
        let left_out = list["_meta"][LEFT_OUT].as_array().map_or(0, Vec::len);
        assert_eq!(left_out, 6, "{list}");
        assert_eq!(
            list["_meta"][LEFT_OUT][0],
            json!({"name": "bad", "reason": "it has no inputSchema"})
        );
        let no_list = mend(json!({"id": 1, "result": {"tools": null}}), None);
        assert_eq!(no_list["error"]["message"], "its list of tools is no list");
    }

    #[test]
    fn hints_of_a_tool_stay_where_they_are_booleans() {
        let hints = json!({"readOnlyHint": true, "destructiveHint": "no", "title": 5});
        let list =
            result(json!({"tools": [{"name": "look", "inputSchema": {}, "annotations": hints}]}));
        assert_eq!(
            list["tools"][0]["annotations"],
            json!({"readOnlyHint": true})
        );
    }

    #[test]
    fn a_result_keeps_what_can_be_read_and_names_what_cannot() {
        let called = result(json!({
            "content": [
                {"type": "text", "text": "fine", "annotations": 5},
                {"type": "video", "data": "AA=="},
                {"type": "image"},
                {"text": "x"},
                "said",
                null,
            ],
            "isError": null,
            "_meta": 5,
            "resultType": "complete",
        }));
        let texts: Vec<_> = called["content"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|block| &block["text"])
            .collect();
        let expected = [
            "fine",
            "[a block of the type `video` was left out: no such type is known]",
            "[a block of the type `image` was left out: it cannot be read]",
            "[a block was left out: it has no type]",
            "said",
            "[a block was left out: it is null, not an object]",
        ];
        assert_eq!(texts, expected);
        assert_eq!(result(json!({})), json!({"content": [], "isError": false}));
        assert_eq!(result(json!("done"))["content"][0]["text"], "done");
        let structured = json!({"structuredContent": {"total": 36}, "isError": "true", "content": [{"type": "video"}]});
        let structured = result(structured);
        assert_eq!(
            structured["content"][0],
            json!({"type": "text", "text": "{\"total\":36}"})
        );
        assert_eq!(structured["isError"], true);
        let both = json!({"structuredContent": {"total": 36}, "content": [{"type": "text", "text": "36"}]});
        assert_eq!(
            result(both)["content"],
            json!([{"type": "text", "text": "36"}])
        );
        let asks = json!({"resultType": "input_required", "inputRequests": {}});
        assert_eq!(result(asks.clone()), asks);
    }

    #[test]
    fn a_handshake_needs_its_version_alone() {
        let made = result(json!({"protocolVersion": "2025-06-18", "capabilities": 5}));
        assert_eq!(made["protocolVersion"], "2025-06-18");
        let awaited = Awaited {
            id: json!(0),
            is_discovery: true,
        };
        let discovered = |result: Value| mend(json!({"id": 0, "result": result}), Some(&awaited));
        let known = discovered(json!({"supportedVersions": ["2026-07-28", 5], "serverInfo": null}));
        assert_eq!(known["result"]["supportedVersions"], json!(["2026-07-28"]));
        assert_eq!(discovered(json!({}))["error"]["code"], -32601);
    }

    #[test]
    fn an_error_answers_the_request_that_it_came_for() {
        let awaited = Awaited {
            id: json!(7),
            is_discovery: false,
        };
        for error in [
            json!("no"),
            json!({"message": "no", "code": "x", "data": {"llmnode": {}}}),
        ] {
            let mended = mend(
                json!({"jsonrpc": "2.0", "id": null, "error": error}),
                Some(&awaited),
            );
            assert_eq!(
                mended,
                json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32603, "message": "no"}})
            );
        }
        let data = json!({"reason": "invalid_request_state", "state": "sealed"});
        let expired = json!({"code": -32602, "message": "no", "data": data});
        let mended = mend(json!({"error": expired}), Some(&awaited));
        assert_eq!(
            mended["error"]["data"],
            json!({"reason": "invalid_request_state"})
        );
        let form = json!({"method": "elicitation/create", "params": {"message": "a", "requestedSchema": 7}});
        let asks = json!({"resultType": "input_required", "inputRequests": {"a": form}});
        let mended = mend(json!({"result": asks}), Some(&awaited));
        let why = mended["error"]["message"].as_str().unwrap();
        assert!(why.contains("a form that cannot be read"), "{why}");
        let request = json!({"id": 1, "method": "ping", "params": {"tools": [5]}});
        assert_eq!(mend(request.clone(), Some(&awaited)), request);
    }
}
