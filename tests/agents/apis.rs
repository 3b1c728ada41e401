//! The four APIs behind one face: what a model says, as each of them writes it, and what each request holds.

use std::sync::Arc;

use llmnode::{Anthropic, ChatModel, Gemini, OpenAi};
use serde_json::{Value, json};

use crate::recorded::{Answer, Asked, Recorded, events, json};

/// Of a thought, as the provider signs or encrypts it.
pub(crate) const SIGNATURE: &str = "c2lnbmF0dXJl";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

/// What a model says in one answer, behind a thought.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) text: &'static str,
    /// Id, name and arguments.
    pub(crate) calls: Vec<(String, String, Value)>,
    /// The answer ends at the limit.
    pub(crate) cut: bool,
}

pub(crate) fn text(text: &'static str) -> Said {
    Said {
        text,
        ..Said::default()
    }
}

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> Said {
    Said {
        calls: vec![(id.to_owned(), name.to_owned(), arguments)],
        ..Said::default()
    }
}

impl Said {
    pub(crate) fn and(mut self, other: Said) -> Said {
        self.calls.extend(other.calls);
        self
    }

    pub(crate) fn cut(mut self) -> Said {
        self.cut = true;
        self
    }
}

impl Api {
    pub(crate) const ALL: [Api; 4] = [Api::Chat, Api::Responses, Api::Anthropic, Api::Gemini];

    pub(crate) fn model(self, url: &str) -> Arc<dyn ChatModel> {
        let openai = || OpenAi::builder().base_url(url).model("m").build().unwrap();
        match self {
            Api::Chat => Arc::new(openai()),
            Api::Responses => Arc::new(openai().responses()),
            Api::Anthropic => Arc::new(
                Anthropic::builder()
                    .base_url(url)
                    .model("m")
                    .build()
                    .unwrap(),
            ),
            Api::Gemini => Arc::new(Gemini::builder().base_url(url).model("m").build().unwrap()),
        }
    }

    /// A server that says this, in order, whole or as a stream.
    pub(crate) async fn says(self, answers: impl IntoIterator<Item = Said>) -> Recorded {
        let mut answers = answers.into_iter().collect::<Vec<_>>().into_iter();
        Recorded::answering(move |asked| match answers.next() {
            Some(said) => self.answer(asked, &said),
            None => (500, "text/plain", "no answer left".to_owned()),
        })
        .await
    }

    pub(crate) fn answer(self, asked: &Asked, said: &Said) -> Answer {
        let streams = asked.body["stream"] == true || asked.head.contains("streamGenerateContent");
        let whole = self.whole(said);
        match (self, streams) {
            (_, false) => json(whole),
            (Api::Chat, true) => events(chat_events(&whole)),
            (Api::Responses, true) => events(responses_events(&whole)),
            (Api::Anthropic, true) => events(anthropic_events(&whole)),
            (Api::Gemini, true) => events(format!("data: {whole}\n\n")),
        }
    }

    fn whole(self, said: &Said) -> Value {
        match self {
            Api::Chat => chat(said),
            Api::Responses => responses(said),
            Api::Anthropic => anthropic(said),
            Api::Gemini => gemini(said),
        }
    }

    /// Messages, turns, items or contents.
    pub(crate) fn conversation(self, body: &Value) -> &Vec<Value> {
        let list = match self {
            Api::Chat | Api::Anthropic => &body["messages"],
            Api::Responses => &body["input"],
            Api::Gemini => &body["contents"],
        };
        list.as_array().unwrap()
    }

    /// Blocks, items or parts, one after the other. Of chat: messages.
    fn parts(self, body: &Value) -> Vec<&Value> {
        let within = |turn: &'static str| {
            self.conversation(body)
                .iter()
                .flat_map(move |one| one[turn].as_array().unwrap())
                .collect()
        };
        match self {
            Api::Chat | Api::Responses => self.conversation(body).iter().collect(),
            Api::Anthropic => within("content"),
            Api::Gemini => within("parts"),
        }
    }

    /// Id and name of each call in the conversation.
    pub(crate) fn calls(self, body: &Value) -> Vec<(String, String)> {
        let named = |id: &Value, name: &Value| (word(id), word(name));
        let of = |part: &Value| match self {
            Api::Chat => {
                let calls = part["tool_calls"].as_array().cloned().unwrap_or_default();
                calls
                    .iter()
                    .map(|call| named(&call["id"], &call["function"]["name"]))
                    .collect()
            }
            Api::Responses if part["type"] == "function_call" => {
                vec![named(&part["call_id"], &part["name"])]
            }
            Api::Anthropic if part["type"] == "tool_use" => vec![named(&part["id"], &part["name"])],
            Api::Gemini if part.get("functionCall").is_some() => {
                vec![named(
                    &part["functionCall"]["id"],
                    &part["functionCall"]["name"],
                )]
            }
            _ => Vec::new(),
        };
        self.parts(body).into_iter().flat_map(of).collect()
    }

    /// Id and text of each result in the conversation.
    pub(crate) fn results(self, body: &Value) -> Vec<(String, String)> {
        let of = |part: &Value| match self {
            Api::Chat if part["role"] == "tool" => {
                Some((word(&part["tool_call_id"]), word(&part["content"])))
            }
            Api::Responses if part["type"] == "function_call_output" => {
                Some((word(&part["call_id"]), word(&part["output"])))
            }
            Api::Anthropic if part["type"] == "tool_result" => Some((
                word(&part["tool_use_id"]),
                word(&part["content"][0]["text"]),
            )),
            Api::Gemini => {
                let response = part.get("functionResponse")?;
                Some((word(&response["id"]), response["response"].to_string()))
            }
            _ => None,
        };
        self.parts(body).into_iter().filter_map(of).collect()
    }

    /// Names of the functions that a request lists.
    pub(crate) fn functions(self, body: &Value) -> Vec<String> {
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        match self {
            Api::Chat => tools
                .iter()
                .map(|tool| word(&tool["function"]["name"]))
                .collect(),
            Api::Responses | Api::Anthropic => {
                tools.iter().map(|tool| word(&tool["name"])).collect()
            }
            Api::Gemini => {
                let lists = tools
                    .iter()
                    .filter_map(|tool| tool["functionDeclarations"].as_array());
                lists
                    .flatten()
                    .map(|function| word(&function["name"]))
                    .collect()
            }
        }
    }

    /// Whether the assistant's message with this text has its thought, as it came.
    pub(crate) fn has_thought_at(self, body: &Value, said: &str) -> bool {
        let turns = self.conversation(body);
        match self {
            Api::Chat => turns
                .iter()
                .any(|one| one["content"] == said && one["reasoning_content"] == "Hm."),
            Api::Responses => turns.windows(2).any(|pair| {
                pair[0]["encrypted_content"] == SIGNATURE
                    && pair[1]["content"][0]["text"] == said
                    && pair[1]["phase"] == "final_answer"
            }),
            Api::Anthropic => turns.iter().any(|turn| {
                turn["content"][0]["signature"] == SIGNATURE && turn["content"][1]["text"] == said
            }),
            Api::Gemini => {
                let mut parts = self.parts(body).into_iter();
                parts.any(|part| part["text"] == said && part["thoughtSignature"] == SIGNATURE)
            }
        }
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn chat(said: &Said) -> Value {
    let calls = said.calls.iter().map(|(id, name, arguments)| {
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
    });
    let calls: Vec<Value> = calls.collect();
    let mut message =
        json!({"role": "assistant", "content": said.text, "reasoning_content": "Hm."});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let finish = if said.cut { "length" } else { "stop" };
    json!({"id": "1", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
}

fn chat_events(whole: &Value) -> String {
    let choice = &whole["choices"][0];
    let mut delta = choice["message"].clone();
    if let Some(calls) = delta.get_mut("tool_calls").and_then(Value::as_array_mut) {
        calls
            .iter_mut()
            .enumerate()
            .for_each(|(index, call)| call["index"] = json!(index));
    }
    let event = |delta: Value, finish: &Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!(
            "data: {}\n\n",
            json!({"id": "1", "model": "m", "choices": [choice], "usage": whole["usage"]})
        )
    };
    event(delta, &Value::Null) + &event(json!({}), &choice["finish_reason"]) + "data: [DONE]\n\n"
}

fn responses(said: &Said) -> Value {
    let mut output = vec![
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SIGNATURE}),
    ];
    if !said.text.is_empty() {
        output.push(json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "phase": "final_answer", "content": [{"type": "output_text", "text": said.text, "annotations": []}]}));
    }
    output.extend(said.calls.iter().map(|(id, name, arguments)| {
        json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": name, "status": "completed",
            "arguments": arguments.to_string()})
    }));
    let mut response = json!({"id": "resp_1", "status": "completed", "error": null, "incomplete_details": null,
        "model": "m", "output": output,
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}});
    if said.cut {
        response["status"] = json!("incomplete");
        response["incomplete_details"] = json!({"reason": "max_output_tokens"});
    }
    response
}

fn responses_events(whole: &Value) -> String {
    let kind = format!("response.{}", whole["status"].as_str().unwrap());
    format!("data: {}\n\n", json!({"type": kind, "response": whole}))
}

fn anthropic(said: &Said) -> Value {
    let mut content = vec![json!({"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE})];
    if !said.text.is_empty() {
        content.push(json!({"type": "text", "text": said.text}));
    }
    content.extend(said.calls.iter().map(
        |(id, name, arguments)| json!({"type": "tool_use", "id": id, "name": name, "input": arguments}),
    ));
    let stop = match (said.cut, said.calls.is_empty()) {
        (true, _) => "max_tokens",
        (false, true) => "end_turn",
        (false, false) => "tool_use",
    };
    json!({"type": "message", "id": "msg_1", "role": "assistant", "model": "m", "content": content,
        "stop_reason": stop, "usage": {"input_tokens": 10, "output_tokens": 5}})
}

fn anthropic_events(whole: &Value) -> String {
    let event = |value: Value| {
        format!(
            "event: {}\ndata: {value}\n\n",
            value["type"].as_str().unwrap()
        )
    };
    let mut head = whole.clone();
    head["content"] = json!([]);
    head["stop_reason"] = Value::Null;
    let mut all = event(json!({"type": "message_start", "message": head}));
    for (index, block) in whole["content"].as_array().unwrap().iter().enumerate() {
        let mut begun = block.clone();
        let delta = match block["type"].as_str().unwrap() {
            "text" => {
                begun["text"] = json!("");
                json!({"type": "text_delta", "text": block["text"]})
            }
            "thinking" => {
                begun["signature"] = json!("");
                json!({"type": "signature_delta", "signature": block["signature"]})
            }
            _ => {
                begun["input"] = json!({});
                json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
            }
        };
        all +=
            &event(json!({"type": "content_block_start", "index": index, "content_block": begun}));
        all += &event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        all += &event(json!({"type": "content_block_stop", "index": index}));
    }
    let stop = json!({"stop_reason": whole["stop_reason"]});
    all += &event(json!({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}));
    all + &event(json!({"type": "message_stop"}))
}

fn gemini(said: &Said) -> Value {
    let mut parts = Vec::new();
    if !said.text.is_empty() {
        parts.push(json!({"text": said.text, "thoughtSignature": SIGNATURE}));
    }
    parts.extend(said.calls.iter().map(|(id, name, arguments)| {
        let mut call = json!({"name": name, "args": arguments});
        if !id.is_empty() {
            call["id"] = json!(id);
        }
        json!({"functionCall": call, "thoughtSignature": SIGNATURE})
    }));
    let finish = if said.cut { "MAX_TOKENS" } else { "STOP" };
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": finish, "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}})
}
