//! What an answer has so far, whether it comes whole or in events.
//!
//! Each event of a stream has the form of a whole answer, so there is one reader: a
//! whole answer is gathered from one event. Members are read leniently, parts
//! strictly, since a part that is left out would change what the model said.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use llmnode_model::ext::{CarriedPart, Json};
use llmnode_model::{ModelError, TokenUsage, ToolCall};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::usage::UsageMetadata;
use crate::api::ends::UNSPECIFIED;
use crate::api::unreadable::broken_piece;
use crate::http::lenient::{
    Count, First, Indexed, first, known_object, object, set_if_changed, text, tokens,
};
use crate::http::reported::{self, Reporting};

/// The members that are used.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Response<'a> {
    #[serde(borrow, deserialize_with = "first")]
    candidates: Option<First<Candidate<'a>>>,
    #[serde(borrow, deserialize_with = "object")]
    prompt_feedback: Option<PromptFeedback<'a>>,
    #[serde(borrow, deserialize_with = "text")]
    model_version: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    response_id: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "object")]
    usage_metadata: Option<UsageMetadata>,
}

impl<'a> Reporting<'a> for Response<'a> {
    type Figures = UsageMetadata;

    fn usage(&mut self) -> &mut Option<UsageMetadata> {
        &mut self.usage_metadata
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PromptFeedback<'a> {
    #[serde(borrow, deserialize_with = "text")]
    block_reason: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    block_reason_message: Option<Cow<'a, str>>,
}

/// One answer of several; see `First`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(deserialize_with = "tokens")]
    index: Count,
    #[serde(borrow, deserialize_with = "known_object")]
    content: Option<Content<'a>>,
    #[serde(borrow, deserialize_with = "text")]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    finish_message: Option<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow, deserialize_with = "raw_parts")]
    parts: Vec<&'a RawValue>,
}

impl Indexed for Candidate<'_> {
    fn index(&self) -> Count {
        self.index
    }
}

/// A piece of an answer, as somebody who reads along sees it: borrowed from the
/// event, and shown before it is kept.
pub(super) enum Piece<'a> {
    Text(&'a str),
    Thought(&'a str),
    Call { name: &'a str, arguments: &'a str },
}

/// An answer so far. Its figures grow with each event, and are asked for after each.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) finish: Option<String>,
    pub(super) finish_message: Option<String>,
    /// How much there was when the reason of the end came. More may follow.
    pub(super) bytes_at_finish: Option<usize>,
    /// Why the prompt is blocked.
    pub(super) block: Option<(String, String)>,
    pub(super) usage: Option<UsageMetadata>,
    /// How much had come when the usage was reported.
    bytes_at_usage: usize,
    /// A candidate has come.
    pub(super) answers: bool,
    /// There are further candidates.
    pub(super) others: bool,
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) parts: Vec<CarriedPart>,
    /// The last part is text of white space alone.
    is_blank: bool,
    /// The first piece that cannot be read.
    pub(super) broken: Option<ModelError>,
    /// How much text and arguments there are.
    pub(super) content: usize,
    /// The last part is no text and no call.
    pub(super) is_silent: bool,
    /// Memory that it takes.
    pub(super) bytes: usize,
}

impl Gathered {
    /// With a reason, or because the prompt is blocked.
    pub(super) fn ends(&self) -> bool {
        self.finish.is_some() || self.block.is_some()
    }

    /// Text, calls and thoughts, in bytes.
    pub(super) fn written(&self) -> usize {
        self.content + self.reasoning.len()
    }

    /// If the answer goes on, the output is not known yet, only the prompt.
    pub(super) fn usage_so_far(&self) -> Option<TokenUsage> {
        let usage = self.usage.as_ref()?;
        let (figures, _) = usage.figures();
        let mut figures = figures?;
        let continues = !usage.counts_output() || self.bytes > self.bytes_at_usage;
        if continues && !self.ends() {
            figures = figures.of_the_prompt();
        }
        if figures == TokenUsage::default() {
            return None;
        }
        Some(figures)
    }

    /// Whether it was anything of an answer. What follows a finish reason belongs
    /// to the answer, too.
    pub(super) fn add(&mut self, event: Response<'_>, show: &mut dyn FnMut(Piece<'_>)) -> bool {
        let Response {
            candidates,
            prompt_feedback,
            model_version,
            response_id,
            usage_metadata,
        } = event;
        let has_usage = usage_metadata.is_some();
        let is_answer = candidates.is_some() || prompt_feedback.is_some() || has_usage;
        set_if_changed(&mut self.model, model_version);
        set_if_changed(&mut self.id, response_id);
        reported::grow(&mut self.usage, usage_metadata);
        if let Some(PromptFeedback {
            block_reason: Some(reason),
            block_reason_message,
        }) = prompt_feedback
        {
            let message = block_reason_message.unwrap_or_default();
            self.block = Some((reason.into_owned(), message.into_owned()));
        }
        if let Some(First { answer, others }) = candidates {
            self.others |= others;
            if let Some(candidate) = answer {
                self.candidate(candidate, show);
            }
        }
        if has_usage {
            self.bytes_at_usage = self.bytes;
        }
        is_answer
    }

    /// The last reason counts, unless it is no reason.
    fn candidate(&mut self, candidate: Candidate<'_>, show: &mut dyn FnMut(Piece<'_>)) {
        self.answers = true;
        if let Some(reason) = candidate.finish_reason
            && !reason.is_empty()
            && (self.finish.is_none() || reason != UNSPECIFIED)
        {
            self.finish = Some(reason.into_owned());
            self.finish_message = candidate.finish_message.map(Cow::into_owned);
        }
        let has_begun = self.bytes > 0;
        for raw in candidate.content.unwrap_or_default().parts {
            self.part(raw, show);
        }
        let has_reason = match self.finish.as_deref() {
            Some(reason) => reason != UNSPECIFIED,
            None => false,
        };
        if has_reason && self.bytes_at_finish.is_none() {
            self.bytes_at_finish = Some(if has_begun { self.bytes } else { 0 });
        }
    }

    /// Nearly all parts of a stream are texts alone, for which there is a faster
    /// way.
    fn part(&mut self, raw: &RawValue, show: &mut dyn FnMut(Piece<'_>)) {
        let before = self.parts.len();
        match serde_json::from_str(raw.get()) {
            Ok(OnlyText { text }) => self.text(&text, None, show),
            Err(_) => {
                let read = self.other_part(raw, show);
                self.broken = self.broken.take().or(read.err());
            }
        }
        let added = self.parts.len() - before;
        self.bytes += raw.get().len() + added * size_of::<CarriedPart>();
    }

    /// Joined with the last part, where one of them is blank; others stay apart, as
    /// they came.
    fn text(&mut self, text: &str, beside: Option<Json>, show: &mut dyn FnMut(Piece<'_>)) {
        if text.is_empty() && beside.is_none() {
            return;
        }
        self.content += text.len();
        self.is_silent &= text.is_empty();
        show(Piece::Text(text));
        self.text.push_str(text);
        let blank = beside.is_none() && text.trim().is_empty();
        match self.parts.last_mut() {
            // Blank text alone is refused.
            Some(CarriedPart::Text {
                bytes,
                beside: None,
            }) if beside.is_none() && (blank || self.is_blank) => {
                *bytes += text.len();
                self.is_blank &= blank;
            }
            _ => {
                self.parts.push(CarriedPart::Text {
                    bytes: text.len(),
                    beside,
                });
                self.is_blank = blank;
            }
        }
    }

    /// A part that is more than text: a call, a thought, a text with a signature, or
    /// what Google's own tools did. Each goes back with the next turn as it came,
    /// since Google checks the signatures of its thoughts.
    fn other_part(
        &mut self,
        raw: &RawValue,
        show: &mut dyn FnMut(Piece<'_>),
    ) -> Result<(), ModelError> {
        let members: Members<'_> = serde_json::from_str(raw.get()).map_err(broken_piece)?;
        if let Some(called) = members.get("functionCall")
            && called.get() != "null"
        {
            let call = called_function(called)?;
            self.content += called.get().len();
            self.is_silent = false;
            show(Piece::Call {
                name: &call.name,
                arguments: &call.arguments,
            });
            let beside = beside(&members, "functionCall");
            self.parts.push(CarriedPart::Call {
                at: self.calls.len(),
                beside,
            });
            self.calls.push(call);
            return Ok(());
        }
        let text = known_word(&members, "text")?;
        if let Some(thought) = members.get("thought")
            && thought.get() == "true"
        {
            let text = text.unwrap_or_default();
            self.is_silent = true;
            show(Piece::Thought(&text));
            self.reasoning += &text;
            self.parts.push(CarriedPart::Other(Json::new(raw)));
            return Ok(());
        }
        match text {
            Some(text) => {
                let beside = beside(&members, "text");
                self.text(&text, beside, show);
            }
            // It says nothing, and would take many times the memory of its bytes.
            None if members.is_empty() => {}
            None => {
                self.is_silent = true;
                self.parts.push(CarriedPart::Other(Json::new(raw)));
            }
        }
        Ok(())
    }
}

type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// Lenient.
fn word(members: &Members<'_>, name: &str) -> Option<String> {
    let value = members.get(name)?;
    serde_json::from_str(value.get()).ok()
}

/// What goes back with a text or a call, such as its signature.
fn beside(members: &Members<'_>, modelled: &str) -> Option<Json> {
    let mut rest = BTreeMap::new();
    for (name, value) in members {
        if name != modelled && value.get() != "null" {
            rest.insert(name, value);
        }
    }
    if rest.is_empty() {
        return None;
    }
    Json::of(&rest)
}

/// Strict: `None` only if it is not there.
fn known_word(members: &Members<'_>, name: &str) -> Result<Option<String>, ModelError> {
    match members.get(name) {
        None => Ok(None),
        Some(value) => serde_json::from_str(value.get())
            .map_err(|error| broken_piece(format!("`{name}` of a part: {error}"))),
    }
}

/// Arguments stay as they were written.
fn called_function(raw: &RawValue) -> Result<ToolCall, ModelError> {
    let called: Members<'_> = serde_json::from_str(raw.get()).map_err(broken_piece)?;
    let arguments = match called.get("args").map(|args| args.get()) {
        None | Some("null") => "{}",
        Some(arguments) => arguments,
    };
    let name = known_word(&called, "name")?.unwrap_or_default();
    let id = word(&called, "id").unwrap_or_default();
    Ok(ToolCall::new(id, name, arguments))
}

/// What most parts of a stream are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnlyText<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

struct RawParts;

impl<'de> Visitor<'de> for RawParts {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of parts, which are pieces of the answer")
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = list.next_element()? {
            parts.push(part);
        }
        Ok(parts)
    }
}

fn raw_parts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<&'de RawValue>, D::Error> {
    from.deserialize_any(RawParts)
}
