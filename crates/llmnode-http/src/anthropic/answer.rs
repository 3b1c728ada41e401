//! Reads a message that came whole.
//!
//! The same blocks and the same `completion` (`blocks.rs`) read a message that came
//! in events, so the two cannot differ. Every field is optional and lenient:
//! gateways leave fields out or send others in their place, and an answer that can
//! be read is worth more than a complaint about a field that nobody needs.

use std::borrow::Cow;

use llmnode_model::ModelError;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::blocks::{Block, Head, MOST_BLOCKS, completion};
use super::usage::MessageUsage;
use crate::api::expected_calls::ExpectedCalls;
use crate::api::read_answer::{ReadResult, Unreadable};
use crate::api::unreadable::{broken_piece, json_of, no_answer, no_json};
use crate::http::error_body;
use crate::http::lenient::{object, text};
use crate::http::reported::{self, Reporting};

/// The members of a message that are used. The content stays raw until it is known
/// that the message has one: an error object may come with status 200.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireMessage<'a> {
    #[serde(borrow, deserialize_with = "text")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "text")]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "object")]
    stop_details: Option<StopDetails<'a>>,
    #[serde(deserialize_with = "object")]
    usage: Option<MessageUsage>,
}

impl<'a> Reporting<'a> for WireMessage<'a> {
    type Figures = MessageUsage;

    fn usage(&mut self) -> &mut Option<MessageUsage> {
        &mut self.usage
    }
}

/// Why the message ended; at its end in a stream, within it otherwise.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Stop<'a> {
    #[serde(borrow, deserialize_with = "text")]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "object")]
    stop_details: Option<StopDetails<'a>>,
}

/// Only for a refusal: which policy, and a sentence about it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StopDetails<'a> {
    #[serde(borrow, deserialize_with = "text")]
    category: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    explanation: Option<Cow<'a, str>>,
}

impl Stop<'_> {
    /// Anthropic withholds answers by a `stop_reason` and not by a status.
    pub(super) fn note(self, head: &mut Head) {
        let Some(reason) = self.stop_reason else {
            return;
        };
        if reason.is_empty() {
            return;
        }
        if reason == "refusal" {
            let StopDetails {
                category,
                explanation,
            } = self.stop_details.unwrap_or_default();
            let category = category.unwrap_or(Cow::Borrowed("no reason given"));
            let explanation = explanation.unwrap_or_default();
            head.refusal = Some((category.into_owned(), explanation.into_owned()));
        }
        head.stop = Some(reason.into_owned());
    }
}

impl WireMessage<'_> {
    /// `Ok(None)`: it has no content.
    pub(super) fn read(self) -> (Head, Result<Option<Vec<Block>>, ModelError>) {
        let mut head = Head {
            id: self.id.map(Cow::into_owned),
            model: self.model.map(Cow::into_owned),
            usage: self.usage.unwrap_or_default(),
            ..Head::default()
        };
        let stop = Stop {
            stop_reason: self.stop_reason,
            stop_details: self.stop_details,
        };
        stop.note(&mut head);
        let blocks = match self.content {
            Some(content) => blocks(content),
            None => Ok(None),
        };
        (head, blocks)
    }
}

/// `None`: there is no content, or `null` in its place.
fn blocks(list: &RawValue) -> Result<Option<Vec<Block>>, ModelError> {
    if list.get() == "null" {
        return Ok(None);
    }
    let list: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(broken_piece)?;
    let count = list.len();
    if count > MOST_BLOCKS {
        let fault = format!("it has {count} blocks, and no answer has as many");
        return Err(broken_piece(fault));
    }
    let mut blocks = Vec::with_capacity(count);
    for raw in list {
        blocks.push(Block::whole_of(raw)?);
    }
    Ok(Some(blocks))
}

/// A body without content is an error with status 200, or not of this API at all.
pub(super) fn read(body: &[u8], expected: ExpectedCalls<'_>) -> ReadResult {
    let body = json_of(body)?;
    let message: WireMessage<'_> = reported::read(body).map_err(|error| no_json(body, &error))?;
    let (head, blocks) = message.read();
    let (usage, _) = head.usage.figures();
    match blocks.map_err(|broken| Unreadable::failure(broken, usage))? {
        Some(blocks) => completion(head, &blocks, true, expected),
        None if error_body::is_error(body) => Err(Unreadable::ErrorObject),
        None => Err(no_answer(
            "the response is JSON without `content`: is this Anthropic's API?",
        )),
    }
}
