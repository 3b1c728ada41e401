//! A request with all that the reading of its response needs.
//!
//! It is borrowed from the call's request and lives as long as the request does.
//! Writers of bodies ask it what to send, readers what to expect; both get the same
//! answers, because both ask here. `joined`, `id_form` and `names` are the
//! `Wire`'s, or what was learned in their place.

use std::borrow::Cow;
use std::collections::BTreeMap;

use llmnode_model::ext::{CALL_TOOL, CarriedPart, SEARCH_TOOLS, Secret, redact_secrets};
use llmnode_model::{ApiKind, FinishReason, Message, Request, ResponseFormat, ToolCall, ToolSpec};
use llmnode_reader::OutputSchema;
use llmnode_reader::ask::{Profile, without_choices};
use serde::Serialize;
use serde_json::Value;

use super::cache_fields::CacheFields;
use super::expected_calls::ExpectedCalls;
use super::request_shape::RequestShape;
use super::sent_calls::{IdForm, sent_name};
use crate::http::service::Deadline;
use crate::refusal::beliefs::Asker;
use crate::refusal::efforts::Thinking;
use crate::refusal::parts::Part;
use crate::refusal::quirks::Choice;
use crate::refusal::switch::Switch;

/// Who asks, and by which way.
/// Not part of the request itself: the same request may be asked by two APIs.
#[derive(Clone, Copy)]
pub(crate) struct RequestContext<'a> {
    pub(crate) asker: Asker,
    /// Between the APIs of the handle, if it has several.
    pub(crate) switch: Option<&'a Switch>,
    /// Tools are taken by this API only without thoughts.
    pub(crate) without_thoughts: bool,
    /// A line of an order, which is asked within hours, and in any order.
    pub(crate) in_batch: bool,
}

impl RequestContext<'_> {
    pub(crate) fn of(request: &Request) -> RequestContext<'static> {
        RequestContext {
            asker: Asker::of(request),
            switch: None,
            without_thoughts: false,
            in_batch: false,
        }
    }
}

pub(crate) struct PreparedRequest<'a> {
    pub(crate) request: &'a Request,
    pub(crate) context: RequestContext<'a>,
    pub(crate) model: &'a str,
    pub(crate) tag: &'static str,
    pub(crate) joined: &'static [&'static str],
    pub(crate) id_form: IdForm,
    pub(crate) names: Option<Profile>,
    pub(crate) shape: RequestShape<'a>,
    pub(crate) deadline: Deadline,
    pub(crate) streams: bool,
    pub(crate) cache: CacheFields,
    pub(crate) secrets: Cow<'a, [Secret]>,
    /// The provider could search the tools that are not listed.
    pub(crate) may_search_tools: bool,
}

/// Which calls the model has to make; none of it leaves the choice to the model.
pub(crate) enum ToolChoice<'a> {
    Named(&'a str),
    Any,
    Nothing,
}

impl PreparedRequest<'_> {
    pub(crate) fn expected_calls(&self) -> ExpectedCalls<'_> {
        let function = self
            .shape
            .schema
            .filter(|(response_format, _)| *response_format == ResponseFormat::Tool)
            .map(|(_, name)| name);
        ExpectedCalls {
            function,
            tools: self.shape.tools,
            limit: self.limit(),
        }
    }

    pub(crate) fn leaves_out(&self, part: Part) -> bool {
        self.shape.quirks.leaves_out(part)
    }

    /// Models that think refuse it.
    pub(crate) fn temperature(&self) -> Option<f64> {
        temperature(self.request).filter(|_| !self.leaves_out(Part::Temperature))
    }

    /// The program's own, in either place.
    pub(crate) fn limit(&self) -> Option<u32> {
        let of_extra = self
            .request
            .extra
            .get("max_output_tokens")
            .and_then(serde_json::Value::as_u64);
        let of_extra = of_extra.map(|of_extra| u32::try_from(of_extra).unwrap_or(u32::MAX));
        let limit = of_extra.or(self.request.max_tokens)?;
        Some(self.shape.quirks.limited(limit))
    }

    pub(crate) fn thinking(&self) -> Option<Thinking> {
        self.shape.thinking.map(|(_, way)| way)
    }

    /// As a word; a budget is none.
    pub(crate) fn effort(&self) -> Option<&'static str> {
        match self.thinking()? {
            Thinking::Effort(effort) => Some(effort.as_str()),
            Thinking::Budget(_) | Thinking::BetweenTools => None,
        }
    }

    /// The schema and how it is asked for, if the answer has a type.
    pub(crate) fn typed(&self) -> Option<(ResponseFormat, &OutputSchema)> {
        let (format, _) = self.shape.schema?;
        Some((format, self.allowed(self.request.output.as_deref()?)))
    }

    /// The function whose arguments are the answer.
    pub(crate) fn function(&self) -> Option<&OutputSchema> {
        self.typed()
            .filter(|(format, _)| *format == ResponseFormat::Tool)
            .map(|(_, schema)| schema)
    }

    /// Listed in every turn, in the last one, too: the beginning of the
    /// conversation stays the same, and with it prompt caches and thoughts that are
    /// bound to it.
    pub(crate) fn listed_function(&self) -> Option<&OutputSchema> {
        match self.shape.keeps_function {
            true => self
                .request
                .output
                .as_deref()
                .map(|schema| self.allowed(schema)),
            false => self.function(),
        }
    }

    /// Those that are listed. If the provider searches, our own search is not.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (&ToolSpec, &OutputSchema)> {
        let searches = self.searches_tools();
        self.request
            .tools
            .iter()
            .filter(move |tool| !(searches && matches!(&*tool.name, SEARCH_TOOLS | CALL_TOOL)))
            .map(|tool| (tool, self.allowed(&tool.schema)))
    }

    /// The provider finds tools, in place of the program.
    pub(crate) fn searches_tools(&self) -> bool {
        self.may_search_tools && !self.leaves_out(Part::ToolSearch)
    }

    /// The tools that the provider is to find. None, if the program does it.
    pub(crate) fn deferred_tools(&self) -> impl Iterator<Item = (&ToolSpec, &OutputSchema)> {
        let Request { tools, .. } = self.request;
        let all = self.request.callable().iter();
        let searches = self.searches_tools();
        all.filter(move |tool| searches && !tools.iter().any(|listed| listed.name == tool.name))
            .map(|tool| (tool, self.allowed(&tool.schema)))
    }

    /// Of a call. Another name than those of the request's functions is made one
    /// that every provider takes.
    pub(crate) fn sent_name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let Request { tools, output, .. } = self.request;
        sent_name(name, |name| {
            tools.iter().any(|tool| tool.name == name)
                || output.as_ref().is_some_and(|output| output.name() == name)
        })
    }

    pub(crate) fn tool_choice(&self) -> Option<ToolChoice<'_>> {
        let Request {
            tools, answer_now, ..
        } = self.request;
        match (self.function(), self.shape.quirks.choice) {
            // The model refuses to be forced; the prompt asks for the call.
            (Some(_), Choice::Free) => None,
            // By name if nothing else may be called.
            (Some(schema), Choice::ByName) if tools.is_empty() || *answer_now => {
                Some(ToolChoice::Named(schema.name()))
            }
            (Some(_), _) => Some(ToolChoice::Any),
            // The last turn of an agent: no more calls, but the tools stay listed,
            // for the cache.
            (None, _) => (*answer_now && !tools.is_empty()).then_some(ToolChoice::Nothing),
        }
    }

    /// Fields of `extra` that are not parts of ours.
    pub(crate) fn extra(&self) -> BTreeMap<&str, &Value> {
        let extra = self
            .request
            .extra
            .iter()
            .filter(|(name, _)| !self.joined.contains(&name.as_str()));
        extra.map(|(name, value)| (name.as_str(), value)).collect()
    }

    /// What the program adds to a field of ours. Its members take precedence.
    pub(crate) fn of_extra(&self, field: &str) -> BTreeMap<&str, &Value> {
        let members = self
            .request
            .extra
            .get(field)
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        members
            .map(|(name, value)| (name.as_str(), value))
            .collect()
    }

    pub(crate) fn list_from_extra(&self, field: &str) -> impl Iterator<Item = &Value> {
        self.request
            .extra
            .get(field)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    }

    /// Without the state's lists where the model refuses them.
    pub(crate) fn allowed<'s>(&self, schema: &'s OutputSchema) -> &'s OutputSchema {
        if self.leaves_out(Part::Choices) {
            without_choices(schema)
        } else {
            schema
        }
    }

    /// Only for the model that wrote them.
    pub(crate) fn carried<'m>(&self, message: &'m Message) -> Option<&'m [CarriedPart]> {
        message
            .carried()
            .filter(|_| self.shape.carries)?
            .parts_for(self.tag, self.model)
    }

    /// Parts of another model are not sent.
    pub(crate) fn leaves_carried(&self) -> bool {
        self.shape.carries
            && self.request.messages.iter().any(|message: &Message| {
                message
                    .carried()
                    .is_some_and(|carried| carried.parts_for(self.tag, self.model).is_none())
            })
    }

    /// Whether Anthropic can be asked to leave out thoughts that are bound to
    /// another beginning of the conversation: in a field beside the request's own
    /// way of thinking.
    pub(crate) fn may_drop_bound_thoughts(&self) -> bool {
        let is_ours = !self.request.extra.contains_key("thinking") && !self.shape.no_thinking;
        let thinks = self.thinking().is_none_or(|way| way != Thinking::Budget(0));
        self.tag == "anthropic" && is_ours && thinks
    }

    /// Whether functions are sent that say that their arguments follow the schema.
    pub(crate) fn has_strict_functions(&self, wire: ApiKind) -> bool {
        let has_function =
            self.function().is_some() || (wire == ApiKind::Responses && self.shape.tools);
        matches!(wire, ApiKind::Chat | ApiKind::Responses) && has_function
    }

    /// Gemini's own tools, from `extra`, beside functions.
    pub(crate) fn sees_server_side_tools(&self) -> bool {
        let has_functions = self.shape.tools || self.function().is_some();
        has_functions && self.list_from_extra("tools").next().is_some()
    }

    /// A call of the answer's function or of a tool.
    pub(crate) fn forces_a_call(&self) -> bool {
        let function = matches!(self.shape.schema, Some((ResponseFormat::Tool, _)));
        function && self.shape.tools && self.shape.quirks.choice != Choice::Free
    }

    /// Whether these calls are of other tools than the one that had to be called.
    pub(crate) fn named_another(&self, calls: &[ToolCall]) -> bool {
        let Some(ToolChoice::Named(name)) = self.tool_choice() else {
            return false;
        };
        self.shape.tools && !calls.is_empty() && calls.iter().all(|call| call.name != name)
    }

    /// Into a buffer of about the right size: it grows by copying otherwise.
    pub(crate) fn json(&self, body: &impl Serialize) -> Result<Vec<u8>, String> {
        let Request {
            messages,
            tools,
            output,
            ..
        } = self.request;
        let listed = tools
            .iter()
            .chain(self.deferred_tools().map(|(tool, _)| tool))
            .map(|tool| tool.schema.plain().get().len() + tool.description.len() + 96);
        let schema = output
            .as_deref()
            .map_or(0, |schema| schema.plain().get().len());
        let most = messages
            .iter()
            .map(estimated_bytes)
            .chain(listed)
            .sum::<usize>()
            + schema
            + 320;
        let mut bytes = Vec::with_capacity(most);
        serde_json::to_writer(&mut bytes, body)
            .map_err(|error| format!("the request cannot be written as JSON: {error}"))?;
        Ok(bytes)
    }

    /// Redacts only known secrets, not whatever looks like a key: a model may be called `pplx-7b`.
    pub(crate) fn clean(&self, word: Option<String>) -> Option<String> {
        word.map(|word| redact_secrets(word, &self.secrets))
    }

    /// A word of a server may be anything.
    pub(crate) fn clean_finish(&self, finish: FinishReason) -> FinishReason {
        match finish {
            FinishReason::Other(word) => FinishReason::Other(redact_secrets(word, &self.secrets)),
            other => other,
        }
    }
}

/// An upper bound for usual messages.
fn estimated_bytes(message: &Message) -> usize {
    let attached: usize = message.attachments().map(|one| one.sent_bytes() + 64).sum();
    let calls: usize = message
        .calls()
        .iter()
        .map(|call| call.arguments.len() + call.name.len() + 96)
        .sum();
    message.content.len() + attached + calls + 64
}

pub(crate) fn temperature(request: &Request) -> Option<f64> {
    request
        .temperature
        .filter(|_| !request.extra.contains_key("temperature"))
}

/// The request's own, unless the program writes the field itself.
pub(crate) fn max_tokens(request: &Request) -> Option<u32> {
    let of_extra = ["max_tokens", "max_completion_tokens"]
        .iter()
        .any(|field| request.extra.contains_key(*field));
    request.max_tokens.filter(|_| !of_extra)
}
