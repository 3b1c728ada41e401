//! A request as a cassette compares it: what the model is asked, and nothing of how it gets there.

use llmnode_model::ext::Redactor;
use llmnode_model::internal::sha256_hex;
use llmnode_runtime::{Message, Part, Request, ToolSpec};
use serde_json::{Map, Value, json};

/// Members are sorted, so that equal requests have equal texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestKey(Value);

impl RequestKey {
    /// Leaves out secrets, and the attempt's id and timeout.
    pub(crate) fn new(request: &Request, redactor: &Redactor) -> Result<Self, serde_json::Error> {
        let output = match &request.output {
            Some(schema) => {
                let plain: Value = serde_json::from_str(schema.plain().get())?;
                json!({"name": schema.name(), "schema": plain})
            }
            None => Value::Null,
        };
        let mut messages = request
            .messages
            .iter()
            .map(message)
            .collect::<Result<Vec<_>, _>>()?;
        messages.iter_mut().for_each(leave_carried);
        number_calls(&mut messages);
        // What is found on the way is no part of what is asked: another index may find other tools.
        let tools = request
            .callable()
            .iter()
            .map(tool)
            .collect::<Result<Vec<_>, _>>()?;
        let mut request_key = json!({
            "messages": messages,
            "tools": Some(tools).filter(|tools| !tools.is_empty()),
            "answer_now": request.answer_now.then_some(true),
            "model": request.model,
            "output": output,
            "dialect": request.response_format,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "raised": request.raised.then_some(true),
            "reasoning": request.reasoning,
            "extra": request.extra,
            "extra_on": request.extra_on,
        });
        if let Value::Object(members) = &mut request_key {
            members.retain(|_, value| !value.is_null() && *value != json!({}));
            // The names of the request's own members are ours.
            members
                .values_mut()
                .for_each(|member| redactor.value(member));
        }
        Ok(RequestKey(sorted(request_key)))
    }

    pub(crate) fn from_json(mut value: Value) -> Self {
        value["messages"]
            .as_array_mut()
            .into_iter()
            .flatten()
            .for_each(leave_carried);
        RequestKey(sorted(value))
    }

    pub(crate) fn as_value(&self) -> &Value {
        &self.0
    }

    pub(crate) fn key(&self) -> String {
        self.0.to_string()
    }

    /// A line for each member, and for each line of a message.
    pub(crate) fn lines(&self) -> String {
        let Value::Object(members) = &self.0 else {
            return self.0.to_string();
        };
        let mut lines = Vec::new();
        for (name, value) in members.iter().filter(|(name, _)| *name != "messages") {
            lines.push(format!("{name}: {value}"));
        }
        for message in members
            .get("messages")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let content = &message["content"];
            let text = content
                .as_str()
                .map_or_else(|| content.to_string(), str::to_owned);
            lines.push(format!(
                "{}: {text}",
                message["role"].as_str().unwrap_or("?")
            ));
            let calls = message
                .get("tool_calls")
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            lines.extend(calls.map(|call| format!("calls {}", call["function"])));
        }
        lines.join("\n")
    }
}

/// Older cassettes have it only in messages with calls. Elsewhere it tells no two requests apart.
fn leave_carried(message: &mut Value) {
    if let Value::Object(members) = message
        && !members.contains_key("tool_calls")
    {
        members.remove("carried");
    }
}

/// Attachments are shortened: they are long, and their URL may hold a key.
fn message(message: &Message) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(message.bare())?;
    let parts = value["content"].as_array_mut().into_iter().flatten();
    for (written, part) in parts.zip(message.parts()) {
        let Part::Attachment(attachment) = part else {
            continue;
        };
        for place in ["/image_url/url", "/file/file_data", "/input_audio/data"] {
            if let Some(content) = written.pointer_mut(place) {
                // The hash in the label is short, so different contents may share it.
                let hash = content
                    .as_str()
                    .map(|content| sha256_hex(content.as_bytes()))
                    .unwrap_or_default();
                *content = format!("{}, {hash}", attachment.label()).into();
            }
        }
    }
    Ok(value)
}

fn tool(tool: &ToolSpec) -> Result<Value, serde_json::Error> {
    let plain: Value = serde_json::from_str(tool.schema.plain().get())?;
    Ok(json!({"name": tool.name, "description": tool.description, "arguments": plain}))
}

/// Ids differ from run to run, so calls are numbered in the order of appearance.
fn number_calls(messages: &mut [Value]) {
    let mut ids: Vec<Value> = Vec::new();
    for message in messages {
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in calls.into_iter().flatten() {
            number_id(&mut call["id"], &mut ids);
        }
        if let Some(id) = message.get_mut("tool_call_id") {
            number_id(id, &mut ids);
        }
    }
}

/// `ids`: those that have a number already.
fn number_id(id: &mut Value, ids: &mut Vec<Value>) {
    let at = ids.iter().position(|earlier| earlier == id);
    let at = at.unwrap_or_else(|| {
        ids.push(id.clone());
        ids.len() - 1
    });
    *id = format!("call_{}", at + 1).into();
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut members: Vec<_> = members
                .into_iter()
                .map(|(name, value)| (name, sorted(value)))
                .collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(members.into_iter().collect::<Map<_, _>>())
        }
        value => value,
    }
}
