//! Turns a response into a completion, or the reason why there is none.

use std::borrow::Cow;
use std::collections::BTreeMap;

use llmnode_model::internal::{CarriedPart, Json};
use llmnode_model::{Category, Completion, FinishReason, ModelError, Retry, ToolCall};
use llmnode_reader::Flag;
use llmnode_reader::internal::one_line;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::request::LEAST_TOKENS;
use super::usage::ResponseUsage;
use crate::api::expected_calls::{ExpectedCalls, take_answer};
use crate::api::read_answer::{ReadAnswer, ReadResult, Unreadable};
use crate::api::unreadable::{json_of, no_answer, no_json};
use crate::http::error_body;
use crate::http::lenient::{object, text};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    #[serde(borrow, deserialize_with = "text")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    /// Some servers do not have it: then `completed` may be cut.
    #[serde(borrow, deserialize_with = "present")]
    incomplete_details: Option<&'a RawValue>,
    #[serde(deserialize_with = "object")]
    usage: Option<ResponseUsage>,
}

/// A `null` is there, too.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

pub(super) fn read(body: &[u8], wanted: ExpectedCalls<'_>) -> ReadResult {
    let body = json_of(body)?;
    match serde_json::from_slice::<Response<'_>>(body) {
        Err(error) => Err(no_json(&error)),
        Ok(Response { error: Some(_), .. }) => Err(Unreadable::ErrorObject),
        Ok(Response { output: None, status: None, .. }) if error_body::is_error(body) => {
            Err(Unreadable::ErrorObject)
        }
        Ok(Response { output: None, status: None, .. }) => {
            Err(no_answer("the response is JSON without `output`: is this the Responses API?"))
        }
        Ok(response) => completion(response, wanted),
    }
}

fn completion(response: Response<'_>, wanted: ExpectedCalls<'_>) -> ReadResult {
    let (usage, impossible) = response.usage.as_ref().map(ResponseUsage::figures).unwrap_or_default();
    let reason = response.incomplete_details.and_then(|details| word(&members(details), "reason"));
    let finish = match (response.status.as_deref(), reason.as_deref()) {
        (Some("incomplete"), Some("max_output_tokens")) => Some(FinishReason::Length),
        (Some("incomplete"), Some("content_filter")) => {
            let message = "OpenAI withheld the answer (content_filter)";
            let mut withheld = ModelError::new(Category::ContentFilter, message).retry(Retry::No);
            withheld.usage = usage.map(Box::new);
            return Err(Unreadable::Failure(Box::new(withheld)));
        }
        (Some("incomplete"), Some(other)) => Some(FinishReason::Other(other.to_owned())),
        (Some("completed"), _) => {
            let output = usage.and_then(|usage| usage.output);
            let is_cut = is_cut(output, wanted.limit, response.incomplete_details.is_some());
            Some(if is_cut { FinishReason::Length } else { FinishReason::Stop })
        }
        (Some(other), _) => Some(FinishReason::Other(one_line(other, 40).to_string())),
        (None, _) => None,
    };
    let mut read = Items::default();
    list(response.output).into_iter().for_each(|item| read.add(item));
    let Items { mut completion, refusal, reasoning, mut parts, says } = read;
    let called = !completion.calls.is_empty();
    let has_call = !completion.calls.is_empty();
    take_answer(&mut completion, wanted);
    // Reasoning without an item behind it is refused.
    while matches!(parts.last(), Some(CarriedPart::Other(item)) if kind(&members(item.raw())) == "reasoning")
    {
        parts.pop();
    }
    if !says || (called && completion.calls.is_empty()) {
        parts.clear();
    }
    completion.refusal = Some(refusal).filter(|refusal| !refusal.is_empty());
    completion.reasoning = Some(reasoning).filter(|reasoning| !reasoning.is_empty());
    completion.finish = finish;
    completion.usage = usage;
    completion.model = response.model.map(Cow::into_owned);
    completion.response_id = response.id.map(Cow::into_owned).filter(|id| !id.is_empty());
    let flags = impossible.then_some(Flag::ImpossibleUsage).into_iter().collect();
    Ok(ReadAnswer { completion, has_call, parts, flags })
}

/// Whether an answer that counts as complete ended at the limit. The API takes no limit below [`LEAST_TOKENS`].
fn is_cut(output: Option<u64>, limit: Option<u32>, has_details: bool) -> bool {
    let (Some(output), Some(limit)) = (output, limit) else { return false };
    let beyond = limit < LEAST_TOKENS && output > u64::from(limit);
    beyond || (!has_details && output >= u64::from(limit.max(LEAST_TOKENS)))
}

type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

#[derive(Default)]
struct Items {
    completion: Completion,
    refusal: String,
    reasoning: String,
    parts: Vec<CarriedPart>,
    /// Something stands beside text.
    says: bool,
}

/// What stands beside a piece of text: beside its message, if it is the first one of it, and in its own part.
#[derive(Serialize)]
struct TextBeside<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<Members<'a>>,
    part: Members<'a>,
}

impl Items {
    fn add(&mut self, raw: &RawValue) {
        let item = members(raw);
        match &*kind(&item) {
            "message" if word(&item, "phase").as_deref() != Some("commentary") => self.message(&item),
            "function_call" => {
                let id = word(&item, "call_id").or_else(|| word(&item, "id")).unwrap_or_default();
                let name = word(&item, "name").unwrap_or_default();
                let arguments = word(&item, "arguments")
                    .or_else(|| item.get("arguments").map(|arguments| arguments.get().to_owned()));
                let beside = Json::of(&rest(item, &["type", "call_id", "name", "arguments"]));
                self.parts.push(CarriedPart::Call { at: self.completion.calls.len(), beside });
                self.completion.calls.push(ToolCall::new(id, name, arguments.unwrap_or_default()));
                self.says = true;
            }
            _ => {
                for part in
                    list(item.get("summary").copied()).into_iter().chain(list(item.get("content").copied()))
                {
                    self.reasoning += &word(&members(part), "text").unwrap_or_default();
                }
                self.parts.push(CarriedPart::Other(Json::new(raw)));
                self.says = true;
            }
        }
    }

    fn message(&mut self, item: &Members<'_>) {
        let mut own = Some(rest(item.clone(), &["type", "role", "content"]));
        for raw in list(item.get("content").copied()) {
            let part = members(raw);
            if let Some(refusal) = word(&part, "refusal") {
                self.refusal += &refusal;
                continue;
            }
            let Some(text) = word(&part, "text") else { continue };
            self.says |= part.get("annotations").is_some_and(|notes| !matches!(notes.get(), "[]" | "null"));
            let beside = TextBeside { item: own.take(), part: rest(part, &["type", "text"]) };
            self.parts.push(CarriedPart::Text { bytes: text.len(), beside: Json::of(&beside) });
            self.completion.text += &text;
        }
    }
}

fn members(raw: &RawValue) -> Members<'_> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn rest<'a>(mut members: Members<'a>, own: &[&str]) -> Members<'a> {
    members.retain(|name, _| !own.contains(&&**name));
    members
}

fn list(raw: Option<&RawValue>) -> Vec<&RawValue> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

fn word(members: &Members<'_>, name: &str) -> Option<String> {
    serde_json::from_str(members.get(name)?.get()).ok()
}

fn kind(members: &Members<'_>) -> String {
    word(members, "type").unwrap_or_default()
}
