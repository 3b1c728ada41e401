//! Turns a response into a completion, or the reason why there is none.
//!
//! A response is a list of items: messages, calls, reasoning, and what OpenAI's own
//! tools did. They are read twice. First as the answer: texts joined, calls listed,
//! summaries of thoughts for whoever reads along. Then as parts for the next turn:
//! nothing is stored by the server (`store: false`), so everything that it wrote
//! has to come back, encrypted reasoning included.

use std::borrow::Cow;
use std::collections::BTreeMap;

use llmnode_model::ext::{CarriedPart, Json};
use llmnode_model::{Category, Completion, FinishReason, ModelError, Retry, TokenUsage, ToolCall};
use llmnode_reader::Flag;
use llmnode_reader::text::one_line;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::items::is_of_the_model;
use super::request::LEAST_TOKENS;
use super::usage::ResponseUsage;
use crate::api::ends;
use crate::api::expected_calls::{ExpectedCalls, take_answer};
use crate::api::read_answer::{ReadAnswer, ReadResult, Unreadable, has_other_price};
use crate::api::unreadable::{broken_piece, json_of, no_answer, no_json};
use crate::http::error_body;
use crate::http::lenient::{known_text, object, text};
use crate::http::reported::{self, Reporting};

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
    /// Some servers lack it: then `completed` may be cut.
    #[serde(borrow, deserialize_with = "present")]
    incomplete_details: Option<&'a RawValue>,
    #[serde(deserialize_with = "object")]
    usage: Option<ResponseUsage>,
    #[serde(borrow, deserialize_with = "text")]
    service_tier: Option<Cow<'a, str>>,
}

/// Items of tools that OpenAI bills apiece.
const BILLED: [&str; 4] = [
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
];

impl<'a> Reporting<'a> for Response<'a> {
    type Figures = ResponseUsage;

    fn usage(&mut self) -> &mut Option<ResponseUsage> {
        &mut self.usage
    }
}

/// `Some` for `null`, too.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

pub(super) fn read(body: &[u8], expected: ExpectedCalls<'_>) -> ReadResult {
    let body = json_of(body)?;
    let response: Response<'_> = reported::read(body).map_err(|error| no_json(body, &error))?;
    if response.error.is_some() {
        return Err(Unreadable::ErrorObject);
    }
    if response.output.is_some() || response.status.is_some() {
        return completion(response, expected);
    }
    if error_body::is_error(body) {
        return Err(Unreadable::ErrorObject);
    }
    Err(no_answer(
        "the response is JSON without `output`: is this the Responses API?",
    ))
}

/// Why an `incomplete` response is so.
fn incomplete_reason(response: &Response<'_>) -> Option<String> {
    let details = response.incomplete_details?;
    if details.get() == "null" {
        return None;
    }
    let details = members(details);
    let reason = word(&details, "reason")?;
    Some(reason.into_owned())
}

/// How the answer ended, by the status of the response.
fn finish_of(
    response: &Response<'_>,
    usage: Option<TokenUsage>,
    reason: Option<&str>,
    expected: ExpectedCalls<'_>,
) -> Option<FinishReason> {
    match response.status.as_deref()? {
        "incomplete" => Some(incomplete(reason)),
        "completed" => {
            let output = usage.and_then(|usage| usage.output);
            let has_details = response.incomplete_details.is_some();
            match is_cut(output, expected.limit, has_details) {
                true => Some(FinishReason::Length),
                false => Some(FinishReason::Stop),
            }
        }
        other => ends::finish(&one_line(other, 40)),
    }
}

/// Reads the items of a response. How it ended is known first: of an answer that
/// was withheld, no item is read.
fn completion(response: Response<'_>, expected: ExpectedCalls<'_>) -> ReadResult {
    let (usage, impossible) = match &response.usage {
        Some(usage) => usage.figures(),
        None => (None, false),
    };
    let reason = incomplete_reason(&response);
    let finish = finish_of(&response, usage, reason.as_deref(), expected);
    if finish == Some(FinishReason::ContentFilter) {
        let why = reason
            .as_deref()
            .or(response.status.as_deref())
            .unwrap_or_default();
        let message = format!("OpenAI withheld the answer ({})", one_line(why, 40));
        let withheld = ModelError::new(Category::ContentFilter, message).retry(Retry::No);
        return Err(Unreadable::failure(withheld, usage));
    }
    let items =
        list(response.output.as_ref()).map_err(|broken| Unreadable::failure(broken, usage))?;
    let count = items.len();
    if count > MOST_ITEMS {
        let many = broken_piece(format!("it has {count} items, and no answer has as many"));
        return Err(Unreadable::failure(many, usage));
    }
    let read = Items::of(&items).map_err(|broken| Unreadable::failure(broken, usage))?;
    let Items {
        mut completion,
        refusal,
        reasoning,
        says,
        is_billed,
    } = read;
    let has_call = !completion.calls.is_empty();
    take_answer(&mut completion, expected);
    // A call of the answer's function has become its text, and goes back as that.
    let was_answer = has_call && completion.calls.is_empty();
    let parts = match says && !was_answer {
        true => parts(&items),
        false => Vec::new(),
    };
    completion.refusal = Some(refusal);
    completion.reasoning = Some(reasoning);
    completion.finish = finish;
    if let Some(doubt) = ends::doubt(&completion, true) {
        return Err(Unreadable::failure(doubt, usage));
    }
    completion.model = response.model.map(Cow::into_owned);
    completion.response_id = response.id.map(Cow::into_owned);
    let reported = (usage, impossible);
    let mut read = ReadAnswer::new(completion, has_call, parts, reported);
    if is_billed || has_other_price(response.service_tier.as_deref()) {
        read.flags.push(Flag::OtherPrice);
    }
    Ok(read)
}

/// What cut the answer.
fn incomplete(reason: Option<&str>) -> FinishReason {
    match reason.and_then(ends::finish) {
        Some(of_server @ (FinishReason::ContentFilter | FinishReason::Error)) => of_server,
        _ => FinishReason::Length,
    }
}

/// Whether a `completed` answer ended at the limit. The API takes no limit below [`LEAST_TOKENS`].
fn is_cut(output: Option<u64>, limit: Option<u32>, has_details: bool) -> bool {
    let (Some(output), Some(limit)) = (output, limit) else {
        return false;
    };
    let beyond = limit < LEAST_TOKENS && output > u64::from(limit);
    beyond || (!has_details && output >= u64::from(limit.max(LEAST_TOKENS)))
}

/// No answer has as many, and each of them takes many times the memory of its bytes.
pub(super) const MOST_ITEMS: usize = 10_000;

type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// The items as an answer. `says`: whether they say more than text and calls do, so
/// that they have to go back.
#[derive(Default)]
struct Items {
    completion: Completion,
    refusal: String,
    reasoning: String,
    says: bool,
    /// A tool ran that is billed apart from the tokens.
    is_billed: bool,
}

impl Items {
    fn of(items: &[&RawValue]) -> Result<Items, ModelError> {
        let mut read = Items::default();
        for item in items {
            let members = serde_json::from_str(item.get()).map_err(broken_piece)?;
            read.add(&members)?;
        }
        Ok(read)
    }

    /// One item.
    fn add(&mut self, item: &Members<'_>) -> Result<(), ModelError> {
        let kind = kind(item);
        self.says |= kind != Kind::Message;
        match kind {
            Kind::Message => {
                self.says |= word(item, "phase").is_some();
                for part in list(item.get("content"))? {
                    let members = serde_json::from_str(part.get()).map_err(broken_piece)?;
                    self.message(&members)?;
                }
            }
            Kind::Call => {
                let id = word(item, "call_id").or_else(|| word(item, "id"));
                let name = known_word(item, "name")?;
                let arguments = match item.get("arguments") {
                    Some(raw) => arguments(raw),
                    None => String::new(),
                };
                let call =
                    ToolCall::new(id.unwrap_or_default(), name.unwrap_or_default(), arguments);
                self.completion.calls.push(call);
            }
            // It goes back as it is, whatever of it can be shown.
            Kind::Other => {
                let kind = word(item, "type").unwrap_or_default();
                self.is_billed |= BILLED.contains(&&*kind);
                for name in ["summary", "content"] {
                    for part in list(item.get(name)).unwrap_or_default() {
                        let text = word(&members(part), "text");
                        self.reasoning += &text.unwrap_or_default();
                    }
                }
            }
        }
        Ok(())
    }

    /// A part of a message: text, or a refusal in its place. A part of another kind
    /// has neither, and goes back as it came.
    fn message(&mut self, part: &Members<'_>) -> Result<(), ModelError> {
        match (word(part, "refusal"), known_word(part, "text")?) {
            (Some(refusal), _) => self.refusal += &refusal,
            (None, Some(text)) => {
                if let Some(notes) = part.get("annotations") {
                    self.says |= !matches!(notes.get(), "[]" | "null");
                }
                self.completion.text += &text;
            }
            (None, None) => {}
        }
        Ok(())
    }
}

/// Commentary is no part of the answer, although it is a message.
#[derive(PartialEq)]
enum Kind {
    Message,
    Call,
    Other,
}

fn kind(item: &Members<'_>) -> Kind {
    match word(item, "type").as_deref() {
        Some("message") if word(item, "phase").as_deref() != Some("commentary") => Kind::Message,
        Some("function_call") => Kind::Call,
        _ => Kind::Other,
    }
}

/// A string that has JSON in it, or the JSON itself.
fn arguments(raw: &RawValue) -> String {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}

/// Members beside a piece of text: of its message, if it is the first piece, and of its own part.
#[derive(Serialize)]
struct TextBeside<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<Members<'a>>,
    part: Members<'a>,
}

/// What goes back with the next turn, in the order in which it came.
///
/// Drops reasoning without an item after it, which the API refuses. Texts and calls
/// are in the message already: of them, only what stands beside them is carried.
fn parts(items: &[&RawValue]) -> Vec<CarriedPart> {
    let mut parts = Vec::new();
    let mut calls = 0;
    let mut end = 0;
    for raw in items {
        let item = members(raw);
        match kind(&item) {
            Kind::Message => message(item, &mut parts),
            Kind::Call => {
                let beside = Json::of(&rest(item, &["type", "call_id", "name", "arguments"]));
                parts.push(CarriedPart::Call { at: calls, beside });
                calls += 1;
            }
            Kind::Other if !is_of_the_model(raw) => {}
            Kind::Other => {
                parts.push(CarriedPart::Other(Json::new(raw)));
                if word(&item, "type").as_deref() == Some("reasoning") {
                    continue;
                }
            }
        }
        end = parts.len();
    }
    parts.truncate(end);
    parts
}

/// Each text keeps what stands beside it; the first also what the message has.
fn message(mut item: Members<'_>, parts: &mut Vec<CarriedPart>) {
    let content = list(item.remove("content").as_ref()).unwrap_or_default();
    let mut of_item = Some(rest(item, &["type", "role"]));
    for raw in content {
        let part = members(raw);
        if word(&part, "refusal").is_some() {
            continue;
        }
        let Some(text) = word(&part, "text") else {
            continue;
        };
        let beside = TextBeside {
            item: of_item.take(),
            part: rest(part, &["type", "text"]),
        };
        parts.push(CarriedPart::Text {
            bytes: text.len(),
            beside: Json::of(&beside),
        });
    }
}

fn members(raw: &RawValue) -> Members<'_> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// The members that a message does not model.
fn rest<'a>(mut members: Members<'a>, modelled: &[&str]) -> Members<'a> {
    members.retain(|name, _| !modelled.contains(&&**name));
    members
}

/// An absent list is an empty one; anything else than a list is an error.
fn list<'a>(raw: Option<&&'a RawValue>) -> Result<Vec<&'a RawValue>, ModelError> {
    match raw.map(|raw| raw.get()) {
        None | Some("null") => Ok(Vec::new()),
        Some(list) => serde_json::from_str(list).map_err(broken_piece),
    }
}

/// A text that is a piece of the answer.
fn known_word<'a>(members: &Members<'a>, name: &str) -> Result<Option<Cow<'a, str>>, ModelError> {
    let Some(value) = members.get(name) else {
        return Ok(None);
    };
    let mut json = serde_json::Deserializer::from_str(value.get());
    known_text(&mut json).map_err(|error| broken_piece(format!("`{name}`: {error}")))
}

/// A text that is not.
fn word<'a>(members: &Members<'a>, name: &str) -> Option<Cow<'a, str>> {
    let value = members.get(name)?;
    let mut json = serde_json::Deserializer::from_str(value.get());
    text(&mut json).ok()?
}
