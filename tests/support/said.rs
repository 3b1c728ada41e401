//! What a model says, as each of the four APIs writes it: in one piece and as a stream.

use std::sync::Arc;

use llmnode::{Anthropic, ChatModel, Gemini, OpenAi};

use crate::recorded::{Answer, events, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

pub(crate) const APIS: [Api; 4] = [Api::Chat, Api::Responses, Api::Anthropic, Api::Gemini];

/// An API, and whether it streams.
pub(crate) fn ways() -> impl Iterator<Item = (Api, bool)> {
    APIS.into_iter().flat_map(|api| [(api, false), (api, true)])
}

impl Api {
    pub(crate) fn model(self, url: &str) -> Arc<dyn ChatModel> {
        let open_ai = || {
            OpenAi::builder()
                .base_url(format!("{url}/v1"))
                .api_key("sk")
                .model("m")
        };
        match self {
            Api::Chat => Arc::new(open_ai().build().unwrap()),
            Api::Responses => Arc::new(open_ai().build().unwrap().responses()),
            Api::Anthropic => Arc::new(
                Anthropic::builder()
                    .base_url(url.to_owned())
                    .api_key("k")
                    .model("m")
                    .build()
                    .unwrap(),
            ),
            Api::Gemini => Arc::new(
                Gemini::builder()
                    .base_url(format!("{url}/v1beta"))
                    .api_key("k")
                    .model("m")
                    .build()
                    .unwrap(),
            ),
        }
    }

    /// What the API says of a good end: with a text, or with calls.
    fn good_end(self, calls: bool) -> &'static str {
        match (self, calls) {
            (Api::Chat, false) => "stop",
            (Api::Chat, true) => "tool_calls",
            (Api::Responses, _) => "completed",
            (Api::Anthropic, false) => "end_turn",
            (Api::Anthropic, true) => "tool_use",
            (Api::Gemini, _) => "STOP",
        }
    }
}

/// All strings as they stand in JSON, so that they may be broken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// The pieces of the text. In one piece they are joined.
    pub(crate) text: Vec<String>,
    /// Names, and arguments as JSON: in a stream they come in two pieces.
    pub(crate) calls: Vec<(String, String)>,
    /// Default: a good one.
    pub(crate) end: Option<String>,
    /// The stream stops where the API would say that the message has ended.
    pub(crate) no_last_event: bool,
    pub(crate) usage: Option<String>,
}

impl Said {
    pub(crate) fn text<'p>(pieces: impl IntoIterator<Item = &'p str>) -> Said {
        Said {
            text: pieces.into_iter().map(str::to_owned).collect(),
            ..Said::default()
        }
    }

    pub(crate) fn call(name: &str, arguments: &str) -> Said {
        Said {
            calls: vec![(name.to_owned(), arguments.to_owned())],
            ..Said::default()
        }
    }

    pub(crate) fn ending(mut self, end: &str) -> Said {
        self.end = Some(end.to_owned());
        self
    }

    pub(crate) fn answer(&self, api: Api, streams: bool) -> Answer {
        let end = self
            .end
            .clone()
            .unwrap_or_else(|| api.good_end(!self.calls.is_empty()).to_owned());
        match api {
            Api::Chat => self.chat(&end, streams),
            Api::Responses => self.responses(&end, streams),
            Api::Anthropic => self.anthropic(&end, streams),
            Api::Gemini => self.gemini(&end, streams),
        }
    }

    fn usage(&self, default: &str) -> String {
        self.usage.clone().unwrap_or_else(|| default.to_owned())
    }

    fn chat(&self, end: &str, streams: bool) -> Answer {
        let usage = self.usage(r#"{"prompt_tokens":9,"completion_tokens":4}"#);
        if !streams {
            let text = self.text.concat();
            let call = |(at, (name, arguments)): (usize, &(String, String))| {
                let arguments = quoted(arguments);
                format!(
                    r#"{{"id":"call_{at}","type":"function","function":{{"name":"{name}","arguments":{arguments}}}}}"#
                )
            };
            let calls = self
                .calls
                .iter()
                .enumerate()
                .map(call)
                .collect::<Vec<_>>()
                .join(",");
            return json(format!(
                r#"{{"choices":[{{"message":{{"role":"assistant","content":"{text}","tool_calls":[{calls}]}},"finish_reason":"{end}"}}],"usage":{usage}}}"#
            ));
        }
        let mut all = Events::default();
        let delta = |delta: String| format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#);
        for piece in &self.text {
            all.add(delta(format!(r#"{{"content":"{piece}"}}"#)));
        }
        for (at, (name, arguments)) in self.calls.iter().enumerate() {
            let [first, second] = halves(arguments).map(quoted);
            all.add(delta(format!(
                r#"{{"tool_calls":[{{"index":{at},"id":"call_{at}","function":{{"name":"{name}","arguments":{first}}}}}]}}"#
            )));
            all.add(delta(format!(
                r#"{{"tool_calls":[{{"index":{at},"function":{{"arguments":{second}}}}}]}}"#
            )));
        }
        all.add(format!(
            r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{end}"}}]}}"#
        ));
        all.add(format!(r#"{{"choices":[],"usage":{usage}}}"#));
        if !self.no_last_event {
            all.add("[DONE]".to_owned());
        }
        events(all.0)
    }

    fn responses(&self, end: &str, streams: bool) -> Answer {
        let usage = self.usage(r#"{"input_tokens":9,"output_tokens":4}"#);
        let text = self.text.concat();
        let message = format!(
            r#"{{"type":"message","id":"msg_1","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}"#
        );
        let call = |(at, (name, arguments)): (usize, &(String, String))| {
            let arguments = quoted(arguments);
            format!(
                r#"{{"type":"function_call","id":"fc_{at}","call_id":"call_{at}","name":"{name}","arguments":{arguments}}}"#
            )
        };
        let items: Vec<String> = (!self.text.is_empty())
            .then_some(message)
            .into_iter()
            .chain(self.calls.iter().enumerate().map(call))
            .collect();
        let whole = format!(
            r#"{{"id":"resp_1","status":"{end}","incomplete_details":null,"output":[{}],"usage":{usage}}}"#,
            items.join(",")
        );
        if !streams {
            return json(whole);
        }
        let mut all = Events::default();
        for (at, item) in items.iter().enumerate() {
            all.add(format!(
                r#"{{"type":"response.output_item.added","output_index":{at},"item":{item}}}"#
            ));
            for piece in self.text.iter().filter(|_| at == 0) {
                all.add(format!(
                    r#"{{"type":"response.output_text.delta","output_index":{at},"delta":"{piece}"}}"#
                ));
            }
            all.add(format!(
                r#"{{"type":"response.output_item.done","output_index":{at},"item":{item}}}"#
            ));
        }
        if !self.no_last_event {
            all.add(format!(
                r#"{{"type":"response.completed","response":{whole}}}"#
            ));
        }
        events(all.0)
    }

    fn anthropic(&self, end: &str, streams: bool) -> Answer {
        let usage = self.usage(r#"{"input_tokens":9,"output_tokens":4}"#);
        let text = self.text.concat();
        if !streams {
            let text = format!(r#"{{"type":"text","text":"{text}"}}"#);
            let call = |(at, (name, arguments)): (usize, &(String, String))| {
                format!(
                    r#"{{"type":"tool_use","id":"toolu_{at}","name":"{name}","input":{arguments}}}"#
                )
            };
            let text = (!self.text.is_empty()).then_some(text);
            let blocks = text
                .into_iter()
                .chain(self.calls.iter().enumerate().map(call));
            let blocks = blocks.collect::<Vec<_>>().join(",");
            return json(format!(
                r#"{{"id":"msg_1","type":"message","content":[{blocks}],"stop_reason":"{end}","usage":{usage}}}"#
            ));
        }
        let mut all = Events::default();
        all.add(r#"{"type":"message_start","message":{"id":"msg_1","content":[]}}"#.to_owned());
        let mut at = 0;
        if !self.text.is_empty() {
            all.add(
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#
                    .to_owned(),
            );
            for piece in &self.text {
                all.add(format!(
                    r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{piece}"}}}}"#
                ));
            }
            all.add(r#"{"type":"content_block_stop","index":0}"#.to_owned());
            at += 1;
        }
        for (name, arguments) in &self.calls {
            all.add(format!(
                r#"{{"type":"content_block_start","index":{at},"content_block":{{"type":"tool_use","id":"toolu_{at}","name":"{name}","input":{{}}}}}}"#
            ));
            for piece in halves(arguments).map(quoted) {
                all.add(format!(
                    r#"{{"type":"content_block_delta","index":{at},"delta":{{"type":"input_json_delta","partial_json":{piece}}}}}"#
                ));
            }
            all.add(format!(r#"{{"type":"content_block_stop","index":{at}}}"#));
            at += 1;
        }
        all.add(format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"{end}"}},"usage":{usage}}}"#
        ));
        if !self.no_last_event {
            all.add(r#"{"type":"message_stop"}"#.to_owned());
        }
        events(all.0)
    }

    fn gemini(&self, end: &str, streams: bool) -> Answer {
        let usage =
            self.usage(r#"{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13}"#);
        let texts = self
            .text
            .iter()
            .map(|piece| format!(r#"{{"text":"{piece}"}}"#));
        let calls = self.calls.iter().map(|(name, arguments)| {
            format!(r#"{{"functionCall":{{"name":"{name}","args":{arguments}}}}}"#)
        });
        let candidate = |parts: &str, rest: &str| {
            format!(
                r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}}{rest}}}],"usageMetadata":{usage}}}"#
            )
        };
        let end = format!(r#","finishReason":"{end}""#);
        if !streams {
            let whole = format!(r#"{{"text":"{}"}}"#, self.text.concat());
            let parts: Vec<String> = (!self.text.is_empty())
                .then_some(whole)
                .into_iter()
                .chain(calls)
                .collect();
            return json(candidate(&parts.join(","), &end));
        }
        let mut all = Events::default();
        texts
            .chain(calls)
            .for_each(|part| all.add(candidate(&part, "")));
        all.add(candidate("", &end));
        events(all.0)
    }
}

#[derive(Default)]
struct Events(String);

impl Events {
    fn add(&mut self, event: String) {
        self.0 += &format!("data: {event}\n\n");
    }
}

fn halves(text: &str) -> [&str; 2] {
    let (first, second) = text.split_at(text.len() / 2);
    [first, second]
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
