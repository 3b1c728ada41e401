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
use llmnode_reader::text::one_line;
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

/// A request, as it goes out to one model by one API.
pub(crate) struct PreparedRequest<'a> {
    pub(crate) request: &'a Request,
    pub(crate) context: RequestContext<'a>,
    pub(crate) model: &'a str,
    /// The API that wrote what an answer carries.
    pub(crate) tag: &'static str,
    /// Fields of `extra` whose members are joined with ours.
    pub(crate) joined: &'static [&'static str],
    pub(crate) id_form: IdForm,
    /// How the API refuses names of members. `None`: it takes all.
    pub(crate) names: Option<Profile>,
    pub(crate) shape: RequestShape<'a>,
    pub(crate) deadline: Deadline,
    pub(crate) streams: bool,
    pub(crate) cache: CacheFields,
    /// What no message of an error may show.
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
    /// What the reader of the answer has to know of the calls that were asked for.
    pub(crate) fn expected_calls(&self) -> ExpectedCalls<'_> {
        let function = match self.shape.schema {
            Some((ResponseFormat::Tool, name)) => Some(name),
            _ => None,
        };
        ExpectedCalls {
            function,
            tools: self.shape.tools,
            limit: self.limit(),
        }
    }

    /// Whether the model is known to refuse this part of a request.
    pub(crate) fn leaves_out(&self, part: Part) -> bool {
        self.shape.quirks.leaves_out(part)
    }

    /// Models that think refuse it.
    pub(crate) fn temperature(&self) -> Option<f64> {
        temperature(self.request).filter(|_| !self.leaves_out(Part::Temperature))
    }

    /// The program's own, in either place.
    pub(crate) fn limit(&self) -> Option<u32> {
        let of_extra = self.request.extra.get("max_output_tokens");
        let limit = match of_extra.and_then(Value::as_u64) {
            Some(tokens) => u32::try_from(tokens).unwrap_or(u32::MAX),
            None => self.request.max_tokens?,
        };
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
        let schema = self.request.output.as_deref()?;
        Some((format, self.allowed(schema)))
    }

    /// The function whose arguments are the answer.
    pub(crate) fn function(&self) -> Option<&OutputSchema> {
        match self.typed()? {
            (ResponseFormat::Tool, schema) => Some(schema),
            _ => None,
        }
    }

    /// Listed in every turn, in the last one, too: the beginning of the
    /// conversation stays the same, and with it prompt caches and thoughts that are
    /// bound to it.
    pub(crate) fn listed_function(&self) -> Option<&OutputSchema> {
        if !self.shape.keeps_function {
            return self.function();
        }
        let schema = self.request.output.as_deref()?;
        Some(self.allowed(schema))
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
        let mut fields = BTreeMap::new();
        for (name, value) in &self.request.extra {
            if !self.joined.contains(&name.as_str()) {
                fields.insert(name.as_str(), value);
            }
        }
        fields
    }

    /// What the program adds to a field of ours. Its members take precedence.
    pub(crate) fn of_extra(&self, field: &str) -> BTreeMap<&str, &Value> {
        let mut members = BTreeMap::new();
        if let Some(Value::Object(of_program)) = self.request.extra.get(field) {
            for (name, value) in of_program {
                members.insert(name.as_str(), value);
            }
        }
        members
    }

    /// What the program adds to a list of ours.
    pub(crate) fn list_from_extra(&self, field: &str) -> impl Iterator<Item = &Value> {
        let list = self.request.extra.get(field).and_then(Value::as_array);
        list.into_iter().flatten()
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
        if !self.shape.carries {
            return None;
        }
        let carried = message.carried()?;
        carried.parts_for(self.tag, self.model)
    }

    /// Parts of another model are not sent.
    pub(crate) fn leaves_carried(&self) -> bool {
        if !self.shape.carries {
            return false;
        }
        let mut all = self.request.messages.iter().filter_map(Message::carried);
        all.any(|carried| carried.parts_for(self.tag, self.model).is_none())
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
        let for_answer = self.function().is_some();
        match wire {
            ApiKind::Chat => for_answer,
            ApiKind::Responses => for_answer || self.shape.tools,
            _ => false,
        }
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
        let mut most = 320;
        for message in messages {
            most += estimated_bytes(message);
        }
        for tool in tools.iter() {
            most += estimated_bytes_of_tool(tool);
        }
        for (tool, _) in self.deferred_tools() {
            most += estimated_bytes_of_tool(tool);
        }
        if let Some(schema) = output {
            most += schema.plain().get().len();
        }
        let mut bytes = Vec::with_capacity(most);
        serde_json::to_writer(&mut bytes, body)
            .map_err(|error| format!("the request cannot be written as JSON: {error}"))?;
        Ok(bytes)
    }

    /// Redacts only known secrets, not whatever looks like a key: a model may be called `pplx-7b`.
    pub(crate) fn clean(&self, text: Option<String>) -> Option<String> {
        text.map(|text| redact_secrets(text, &self.secrets))
    }

    /// A name or an id that a server gives: it stands in records, logs and journals, and may be of any length.
    pub(crate) fn clean_word(&self, word: Option<String>) -> Option<String> {
        self.clean(word).map(short)
    }

    /// A word of a server may be anything.
    pub(crate) fn clean_finish(&self, finish: FinishReason) -> FinishReason {
        match finish {
            FinishReason::Other(word) => {
                FinishReason::Other(short(redact_secrets(word, &self.secrets)))
            }
            other => other,
        }
    }
}

/// No name of a model and no id is as long.
const LONGEST_WORD: usize = 1_000;

fn short(word: String) -> String {
    match word.len() {
        0..=LONGEST_WORD => word,
        _ => one_line(word, LONGEST_WORD),
    }
}

/// An upper bound for usual messages, with what stands around each part.
fn estimated_bytes(message: &Message) -> usize {
    let mut bytes = message.content.len() + 64;
    for attachment in message.attachments() {
        bytes += attachment.sent_bytes() + 64;
    }
    for call in message.calls() {
        bytes += call.arguments.len() + call.name.len() + 96;
    }
    bytes
}

fn estimated_bytes_of_tool(tool: &ToolSpec) -> usize {
    let schema = tool.schema.plain().get();
    schema.len() + tool.description.len() + 96
}

/// The request's own, unless the program writes the field itself.
pub(crate) fn temperature(request: &Request) -> Option<f64> {
    if request.extra.contains_key("temperature") {
        return None;
    }
    request.temperature
}

/// The request's own, unless the program writes the field itself.
pub(crate) fn max_tokens(request: &Request) -> Option<u32> {
    for field in ["max_tokens", "max_completion_tokens"] {
        if request.extra.contains_key(field) {
            return None;
        }
    }
    request.max_tokens
}
