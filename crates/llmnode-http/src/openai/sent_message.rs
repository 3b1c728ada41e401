//! A message as chat completions take it.
//!
//! Written by hand and not derived, since its members depend on the message:
//! results have an id, the model's turns have calls and what was carried, and texts
//! become parts only where there is media or a mark of the cache.

use std::borrow::Cow;
use std::collections::BTreeMap;

use llmnode_model::ext::{CarriedPart, Json};
use llmnode_model::internal::Content;
use llmnode_model::{Message, Role};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::cache_marks::{BREAKPOINT, Breakpoint};
use super::carried::MEMBERS;
use crate::api::prepared_request::PreparedRequest;
use crate::refusal::parts::Part;

/// The member that models want back which refuse an answer without thoughts.
const THOUGHTS: &str = "reasoning_content";

/// DeepSeek V4 Pro refuses an empty text, and takes a space:
/// NousResearch/hermes-agent#18263, BerriAI/litellm#28057.
const BLANK_THOUGHTS: &str = " ";

/// Borrowed: a conversation is written without a copy of it.
pub(super) struct SentMessage<'a> {
    pub(super) message: &'a Message,
    pub(super) parts: &'a [CarriedPart],
    /// Of its calls, or of the call whose result it is.
    pub(super) ids: &'a [Cow<'a, str>],
    /// Behind so many bytes of its text ends what is kept in the cache.
    pub(super) mark: Option<usize>,
    pub(super) prepared: &'a PreparedRequest<'a>,
}

/// A text that a mark of the cache may follow.
#[derive(Serialize)]
struct TextPart<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_breakpoint: Option<Breakpoint>,
}

impl<'a> TextPart<'a> {
    fn new(text: &'a str, prompt_cache_breakpoint: Option<Breakpoint>) -> Self {
        TextPart {
            r#type: "text",
            text,
            prompt_cache_breakpoint,
        }
    }
}

/// With what the provider put beside it.
#[derive(Serialize)]
struct SentCall<'a> {
    r#type: &'static str,
    id: &'a str,
    function: SentFunction<'a>,
    #[serde(flatten)]
    beside: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

#[derive(Serialize)]
struct SentFunction<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
}

impl Serialize for SentMessage<'_> {
    /// Role and content come first, as all servers write them; what was carried stands
    /// before the calls, since it was thought before them.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let SentMessage {
            message,
            parts,
            ids,
            ..
        } = self;
        let calls = message.calls();
        let mut members = to.serialize_map(None)?;
        members.serialize_entry("role", &message.role)?;
        // Some servers refuse an empty text beside calls.
        match self.marked_text() {
            Some(parts) => members.serialize_entry("content", &parts)?,
            None => {
                let content = Some(Content(message))
                    .filter(|_| calls.is_empty() || !message.content.is_empty());
                members.serialize_entry("content", &content)?;
            }
        }
        let mut lacks_thoughts =
            message.role == Role::Assistant && self.prepared.leaves_out(Part::BareAnswers);
        for part in *parts {
            let CarriedPart::Other(json) = part else {
                continue;
            };
            let of_message = object(json)
                .into_iter()
                .filter(|(name, _)| MEMBERS.contains(&&**name));
            for (name, value) in of_message {
                lacks_thoughts &= name != THOUGHTS;
                members.serialize_entry(&name, value)?;
            }
        }
        if lacks_thoughts {
            members.serialize_entry(THOUGHTS, BLANK_THOUGHTS)?;
        }
        if !calls.is_empty() {
            members.serialize_entry("tool_calls", &self.calls())?;
        }
        if message.answers().is_some() {
            members.serialize_entry("tool_call_id", ids.first().map_or("", |id| id))?;
        }
        members.end()
    }
}

impl SentMessage<'_> {
    /// The text in two parts, of which the first one has the mark. Attachments
    /// stand behind it, if at all.
    fn marked_text(&self) -> Option<Vec<TextPart<'_>>> {
        let end = self.mark?;
        if self.message.attachments().next().is_some() {
            return None;
        }
        let (kept, rest) = self.message.content.split_at_checked(end)?;
        let mut parts = vec![TextPart::new(kept, Some(BREAKPOINT))];
        if !rest.is_empty() {
            parts.push(TextPart::new(rest, None));
        }
        Some(parts)
    }

    /// If calls were added or taken away since, nothing stays beside them.
    fn calls(&self) -> Vec<SentCall<'_>> {
        let listed = self
            .parts
            .iter()
            .filter(|part| matches!(part, CarriedPart::Call { .. }))
            .count();
        let parts = if listed == self.message.calls().len() {
            self.parts
        } else {
            &[]
        };
        let calls = self.message.calls().iter().enumerate();
        let sent = calls.map(|(index, call)| SentCall {
            r#type: "function",
            id: self.ids.get(index).map_or("", |id| id),
            function: SentFunction {
                name: self.prepared.sent_name(&call.name),
                // Servers read them as JSON.
                arguments: if call.arguments.is_empty() {
                    "{}"
                } else {
                    &call.arguments
                },
            },
            beside: beside_call(parts, index).unwrap_or_default(),
        });
        sent.collect()
    }
}

/// What the provider put beside the call at this place.
fn beside_call(parts: &[CarriedPart], index: usize) -> Option<BTreeMap<Cow<'_, str>, &RawValue>> {
    parts.iter().find_map(|part| match part {
        CarriedPart::Call { at, beside } if *at == index => Some(object(beside.as_ref()?)),
        _ => None,
    })
}

fn object(json: &Json) -> BTreeMap<Cow<'_, str>, &RawValue> {
    serde_json::from_str(json.raw().get()).unwrap_or_default()
}
