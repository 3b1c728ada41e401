//! The blocks of an answer, whether they came whole or in pieces.

use llmnode_model::internal::{CarriedPart, Json};
use llmnode_model::{Category, Completion, FinishReason, ModelError, Retry, ToolCall};
use llmnode_reader::internal::one_line;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::usage::MessageUsage;
use crate::api::ends;
use crate::api::expected_calls::{ExpectedCalls, take_answer};
use crate::api::read_answer::{CutBy, ReadAnswer, ReadResult, Unreadable};

#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) members: Map<String, Value>,
    /// For a block that came in one piece: as it was written.
    pub(super) raw: Option<Box<RawValue>>,
    pub(super) input: String,
}

#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) stop: Option<String>,
    pub(super) refusal: Option<(String, String)>,
    pub(super) usage: MessageUsage,
}

impl Block {
    pub(super) fn kind(&self) -> &str {
        self.text("type")
    }

    pub(super) fn text(&self, member: &str) -> &str {
        self.members.get(member).and_then(Value::as_str).unwrap_or_default()
    }

    /// A call that Anthropic executes itself, or its result.
    fn is_of_own_tool(&self) -> bool {
        !matches!(self.kind(), "text" | "thinking" | "redacted_thinking" | "tool_use")
    }

    fn is_call(&self) -> bool {
        self.kind() == "tool_use"
    }

    /// As written: a number may have more digits than a float.
    pub(super) fn arguments(&self) -> String {
        #[derive(serde::Deserialize)]
        struct Call<'a> {
            #[serde(borrow)]
            input: &'a RawValue,
        }
        let raw = self.raw.as_deref().and_then(|raw| serde_json::from_str::<Call<'_>>(raw.get()).ok());
        if let Some(call) = raw {
            return call.input.get().to_owned();
        }
        match (self.input.trim(), self.members.get("input")) {
            ("", Some(input)) => input.to_string(),
            ("", None) => "{}".to_owned(),
            (input, _) => input.to_owned(),
        }
    }

    /// Members of the API that a message does not model. Empty lists and nulls mean nothing.
    fn beside(&self, own: &[&str]) -> Option<Json> {
        let says = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
        let rest = self.members.iter().filter(|(name, value)| !own.contains(&name.as_str()) && says(value));
        let rest: Map<String, Value> = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
        if rest.is_empty() { None } else { Json::of(&rest) }
    }

    fn whole(&self) -> Option<Json> {
        match &self.raw {
            Some(raw) => Some(Json::new(raw)),
            None if self.input.trim().is_empty() => Json::of(&self.members),
            None => {
                let mut members = self.members.clone();
                members.insert("input".to_owned(), serde_json::from_str(&self.input).ok()?);
                Json::of(&members)
            }
        }
    }
}

/// `has_ended`: the message came to the end that this API has for one.
pub(super) fn completion(
    head: Head,
    blocks: &[Block],
    has_ended: bool,
    wanted: ExpectedCalls<'_>,
) -> ReadResult {
    let (usage, impossible) = head.usage.figures();
    if let Some((category, why)) = &head.refusal {
        let why = one_line(why, 300);
        let message = format!("Anthropic withheld the answer ({}): {why}", one_line(category, 40));
        let withheld = ModelError::new(Category::ContentFilter, message).retry(Retry::No);
        return Err(Unreadable::failure(withheld, usage));
    }
    let mut completion = Completion::new("");
    let (mut reasoning, mut parts) = (String::new(), Vec::new());
    for block in blocks {
        match block.kind() {
            "text" => {
                let text = block.text("text");
                completion.text += text;
                parts.push(CarriedPart::Text { bytes: text.len(), beside: block.beside(&["type", "text"]) });
            }
            "tool_use" => {
                let call = ToolCall::new(block.text("id"), block.text("name"), block.arguments());
                let beside = block.beside(&["type", "id", "name", "input"]);
                parts.push(CarriedPart::Call { at: completion.calls.len(), beside });
                completion.calls.push(call);
            }
            _ => {
                reasoning += block.text("thinking");
                parts.extend(block.whole().map(CarriedPart::Other));
            }
        }
    }
    let has_call = !completion.calls.is_empty();
    take_answer(&mut completion, wanted);
    completion.reasoning = Some(reasoning);
    completion.finish = head.stop.as_deref().and_then(ends::finish);
    if let Some(doubt) = ends::doubt(&completion, has_ended) {
        return Err(Unreadable::failure(doubt, usage));
    }
    (completion.model, completion.response_id) = (head.model, head.id);
    let bare = |part: &CarriedPart| {
        matches!(part, CarriedPart::Text { beside: None, .. } | CarriedPart::Call { beside: None, .. })
    };
    // The message alone says as much.
    let is_whole = completion.finish != Some(FinishReason::Continue);
    if completion.calls.is_empty() && blocks.iter().any(Block::is_call) {
        // A call of the function for the answer goes back as a text, behind the thoughts.
        parts.retain(|part| matches!(part, CarriedPart::Other(_)));
    }
    if is_whole && parts.iter().all(bare) {
        parts.clear();
    }
    let mut read = ReadAnswer::new(completion, has_call, parts, (usage, impossible));
    read.cut = match head.stop.as_deref() {
        Some("max_tokens") if blocks.iter().any(Block::is_of_own_tool) => CutBy::LimitAfterTools,
        Some("max_tokens") => CutBy::Limit,
        _ => CutBy::Other,
    };
    Ok(read)
}
