//! Responses as events. The last event has the whole response.

use serde_json::{Value, json};

use crate::model_answer::{list, pieces, word};

/// `scripted`: the pieces of the text, if the reply has its own.
pub(crate) fn events(body: &Value, scripted: Option<&[String]>) -> Vec<Vec<u8>> {
    let mut events = Events::default();
    let mut begun = body.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    events.add(json!({"type": "response.created", "response": begun}));
    events.add(json!({"type": "response.in_progress", "response": begun}));
    for (at, item) in list(&body["output"]).iter().enumerate() {
        events.item(at, item, scripted);
    }
    let last = match word(body, "status") {
        "incomplete" => "response.incomplete",
        "failed" => "response.failed",
        _ => "response.completed",
    };
    events.add(json!({"type": last, "response": body}));
    events.written
}

#[derive(Default)]
struct Events {
    written: Vec<Vec<u8>>,
}

impl Events {
    fn add(&mut self, mut event: Value) {
        event["sequence_number"] = json!(self.written.len());
        let kind = word(&event, "type").to_owned();
        self.written
            .push(format!("event: {kind}\ndata: {event}\n\n").into_bytes());
    }

    fn item(&mut self, at: usize, item: &Value, scripted: Option<&[String]>) {
        let mut begun = item.clone();
        for (name, empty) in [
            ("content", json!([])),
            ("arguments", json!("")),
            ("summary", json!([])),
        ] {
            if begun.get(name).is_some() {
                begun[name] = empty;
            }
        }
        begun["status"] = json!("in_progress");
        self.add(json!({"type": "response.output_item.added", "output_index": at, "item": begun}));
        match word(item, "type") {
            "message" => self.content(at, item, scripted),
            "function_call" => self.arguments(at, item),
            _ => self.summary(at, item),
        }
        self.add(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }

    fn content(&mut self, at: usize, item: &Value, scripted: Option<&[String]>) {
        for (index, part) in list(&item["content"]).iter().enumerate() {
            let place = json!({"item_id": item["id"], "output_index": at, "content_index": index});
            let is_refusal = part["type"] == "refusal";
            let kind = if is_refusal {
                "response.refusal"
            } else {
                "response.output_text"
            };
            let name = if is_refusal { "refusal" } else { "text" };
            let text = word(part, name);
            let of_text = scripted.filter(|_| !is_refusal);
            let mut empty = part.clone();
            empty[name] = json!("");
            self.add(with(&place, "response.content_part.added", "part", empty));
            for piece in of_text.map_or_else(|| pieces(text), <[String]>::to_vec) {
                self.add(with(
                    &place,
                    &format!("{kind}.delta"),
                    "delta",
                    json!(piece),
                ));
            }
            self.add(with(&place, &format!("{kind}.done"), name, json!(text)));
            self.add(with(
                &place,
                "response.content_part.done",
                "part",
                part.clone(),
            ));
        }
    }

    fn arguments(&mut self, at: usize, item: &Value) {
        let place = json!({"item_id": item["id"], "output_index": at});
        let arguments = word(item, "arguments");
        for piece in pieces(arguments) {
            self.add(with(
                &place,
                "response.function_call_arguments.delta",
                "delta",
                json!(piece),
            ));
        }
        self.add(with(
            &place,
            "response.function_call_arguments.done",
            "arguments",
            json!(arguments),
        ));
    }

    fn summary(&mut self, at: usize, item: &Value) {
        for (index, part) in list(&item["summary"]).iter().enumerate() {
            let place = json!({"item_id": item["id"], "output_index": at, "summary_index": index});
            let text = word(part, "text");
            for piece in pieces(text) {
                self.add(with(
                    &place,
                    "response.reasoning_summary_text.delta",
                    "delta",
                    json!(piece),
                ));
            }
            self.add(with(
                &place,
                "response.reasoning_summary_text.done",
                "text",
                json!(text),
            ));
        }
    }
}

fn with(place: &Value, kind: &str, name: &str, value: Value) -> Value {
    let mut event = place.clone();
    event["type"] = json!(kind);
    event[name] = value;
    event
}
