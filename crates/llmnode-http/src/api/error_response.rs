//! What becomes of a response without an answer: its category, whether to try
//! again, and a message for a person.
//!
//! In: status, headers, body, and the request that was sent. Out: a `ModelError`.
//! The order:
//!
//! 1. The body is read (`http/error_body.rs`), and what it quotes of the prompt is
//!    taken out, so that a prompt which speaks of "rate limits" or "context length"
//!    cannot choose the category.
//! 2. `http/classify.rs` gives the category.
//! 3. `learns`: does the server say that it refuses a part which the next request
//!    can do without? Then that is noted, and the error asks to try again at once.
//! 4. The message for a person, redacted, with a remedy where one is known.
//! 5. How long to wait: from the headers, else from the text.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::SystemTime;

use llmnode_model::ext::{redact, window_in};
use llmnode_model::{
    ApiKind, Category, Group, Message, ModelError, ResponseFormat, Retry, Role, Sink,
};
use llmnode_reader::Flag;
use llmnode_reader::text::one_line;
use serde_json::Value;

use super::inner::Inner;
use super::prepared_request::{PreparedRequest, ToolChoice, max_tokens, temperature};
use super::response_head::ResponseHead;
use crate::http::error_body::ErrorBody;
use crate::http::lookalikes::model_hint;
use crate::http::service::PROXY_CREDENTIALS;
use crate::http::{classify, retry_after, wait_hint};
use crate::refusal::effort_fault::has_word;
use crate::refusal::message::{decoded, without_prompt};
use crate::refusal::parts::{Part, Parts};
use crate::refusal::quirks::Choice;
use crate::refusal::reading::{self, REFUSALS, Refusal, Sent};
use crate::refusal::switch::{RefusedWay, Way, names_responses};

/// How much of a server's text an error shows.
const MOST_SHOWN: usize = 500;

impl Inner {
    /// The error of a response, in the order of the page above. Also for errors that
    /// come with status 200, and for events that are errors.
    ///
    /// The server's text is needed twice: without the words of the prompt, to decide
    /// by it, and with them, for a person and for the name of a function. What was
    /// learned comes before the message, since a refusal that is mended needs no
    /// advice.
    pub(crate) fn refusal(
        &self,
        head: &ResponseHead,
        body: &[u8],
        prepared: &PreparedRequest<'_>,
        sink: &mut dyn Sink,
    ) -> ModelError {
        let status = head.status.as_u16();
        let is_readable = !head.encoded || std::str::from_utf8(body).is_ok();
        let readable = if is_readable { body } else { b"" };
        let mut error = ErrorBody::read(readable);
        let quoting = std::mem::take(&mut error.message);
        error.message = self.without_prompt(&quoting, prepared);
        let category = classify::classify(status, &error);
        if category == Category::NotFound {
            // The learned target may be what does not exist any more.
            self.redirects.forget();
        }
        let refusal = Refusal {
            status,
            error: &error,
            text: &error.message,
            quoting: &decoded(&quoting),
        };
        let learns = self.learns(&refusal, prepared);
        let message = self.error_message(category, &quoting, &refusal, learns, prepared);
        let mut failure = ModelError::new(category, message);
        let is_unreadable = category == Category::SchemaError;
        if let Some(written) = &error.wrote
            && is_unreadable
        {
            failure.answer = Some(Box::new(Message::assistant(written.clone())));
        }
        failure.status = Some(status);
        failure.request_id.clone_from(&head.request_id);
        // Only for errors that waiting helps against: other texts may quote the prompt.
        let wait = retry_after::retry_after(&head.headers, SystemTime::now());
        failure.retry_after = wait.max(error.retry_after);
        if failure.retry_after.is_none() && category.group() == Group::Transport {
            failure.retry_after = wait_hint::wait_hint(&quoting);
        }
        failure.names_a_field = learns || self.names_a_field(&refusal, prepared);
        let (usage, is_impossible) = error.usage;
        failure.usage = usage.map(Box::new);
        if is_impossible {
            sink.flag(Flag::ImpossibleUsage);
        }
        failure.retry = if learns {
            Some(Retry::Adapted)
        } else if is_unreadable {
            // The same request would fail as it did: the model has to be told.
            Some(Retry::Feedback)
        } else {
            match retry_after::should_retry(&head.headers) {
                Some(true) => Some(Retry::Transport),
                Some(false) => Some(Retry::No),
                None => None,
            }
        };
        failure
    }

    /// `learns`: the next request is written otherwise, so that a person has nothing to do.
    fn error_message(
        &self,
        category: Category,
        quoting: &str,
        refusal: &Refusal<'_>,
        learns: bool,
        prepared: &PreparedRequest<'_>,
    ) -> String {
        // Redacted before it is cut, since half a key is not recognised.
        let whole = redact(quoting, &prepared.secrets);
        let mut text = if whole.is_empty() {
            "nothing more".to_owned()
        } else {
            one_line(&whole, MOST_SHOWN)
        };
        // Whoever reads the error learns the window from it, so it is not cut off.
        if category == Category::ContextLengthError
            && let Some(window) = window_in(&whole)
            && window_in(&text) != Some(window)
        {
            text = format!("{text}; its context window is {window} tokens");
        }
        // The model reads it, and nothing of where it runs.
        if category == Category::SchemaError {
            return format!("the server could not read what the model wrote: {text}");
        }
        let shown = &self.service.endpoint.shown;
        let status = refusal.status;
        let hint = if learns {
            String::new()
        } else {
            self.hint(category, refusal, prepared)
        };
        format!("{shown} answered {status}: {text}{hint}")
    }

    /// The request is written once more: it is kept by nobody, and a refusal is rare.
    /// Server messages quote requests; what they quote is found by the strings of
    /// the request's own JSON.
    fn without_prompt(&self, text: &str, prepared: &PreparedRequest<'_>) -> String {
        let mut request = Value::Null;
        if let Ok(body) = (self.wire.encode)(prepared) {
            request = serde_json::from_slice(&body).unwrap_or(Value::Null);
        }
        without_prompt(text, &request, prepared.model)
    }

    /// A body with `Content-Encoding` that has no answer as it is.
    pub(crate) fn encoded(&self, body: &[u8]) -> ModelError {
        let shown = &self.service.endpoint.shown;
        if std::str::from_utf8(body).is_ok() {
            let message = format!("{shown}: the response is marked as compressed, and is not");
            return ModelError::new(Category::Network, message);
        }
        let message = format!(
            "{shown}: the response is compressed, although `accept-encoding: identity` was sent; \
             switch compression off in the server, or in a proxy before it"
        );
        ModelError::new(Category::BadResponse, message).retry(Retry::No)
    }

    pub(crate) fn web_page(&self, body: &[u8], prepared: &PreparedRequest<'_>) -> ModelError {
        let shown = &self.service.endpoint.shown;
        let begin = &body[..body.len().min(4096)];
        let begin = String::from_utf8_lossy(begin);
        let begin = redact(&begin, &prepared.secrets);
        let begin = one_line(begin.trim(), 200);
        let message = format!(
            "{shown} answered with a web page, not JSON: a wrong base URL (most end with /v1), or \
             a proxy's page. It begins: {begin}"
        );
        ModelError::new(Category::BadResponse, message).retry(Retry::No)
    }

    /// Three kinds of lessons: which API takes the request, which part the model
    /// refuses, and that a trial of something refused earlier has failed again.
    fn learns(&self, refusal: &Refusal<'_>, prepared: &PreparedRequest<'_>) -> bool {
        // Of embeddings, nothing can be asked otherwise.
        if prepared.request.messages.is_empty() {
            return false;
        }
        let PreparedRequest { model, context, .. } = *prepared;
        if let Some(switch) = context.switch
            && switch.learns(model, context.asker, &self.refused_way(refusal, prepared))
        {
            tracing::debug!(target: "llmnode::openai", model, "will ask by the other API");
            return true;
        }
        let read = reading::read(refusal, &self.sent(prepared));
        if let Some((fact, condition)) = read {
            tracing::debug!(target: "llmnode::openai", model, refused = ?fact, "will ask differently");
            self.beliefs
                .learn(model, context.asker, fact, condition, hash(refusal.text));
            return true;
        }
        REFUSALS.contains(&refusal.status) && self.beliefs.end_trial(model, context.asker)
    }

    /// Whether a 400 is about a field at all: then the attempt loop may do
    /// something else than about a wrong prompt.
    fn names_a_field(&self, refusal: &Refusal<'_>, prepared: &PreparedRequest<'_>) -> bool {
        matches!(refusal.status, 400 | 422) && reading::names_a_field(refusal, &self.sent(prepared))
    }

    /// What a refusal has to be compared with, to know whether another API would
    /// take the request.
    fn refused_way<'a>(
        &self,
        refusal: &Refusal<'a>,
        prepared: &PreparedRequest<'_>,
    ) -> RefusedWay<'a> {
        let Refusal {
            status,
            error,
            text,
            ..
        } = *refusal;
        RefusedWay {
            status,
            text,
            names_a_missing_model: error.has("model_not_found") || has_word(text, "model"),
            way: match self.wire.name {
                ApiKind::Responses => Way::Responses,
                _ if prepared.shape.without_thoughts => Way::ChatWithoutThoughts,
                _ => Way::Chat,
            },
            tools: prepared.shape.tools,
            can_be_without_thoughts: !self.wire.efforts.is_in(&prepared.request.extra),
        }
    }

    /// What of the request is ours. What the user wrote in `extra` is not.
    fn sent<'a>(&self, prepared: &'a PreparedRequest<'_>) -> Sent<'a> {
        let PreparedRequest { request, shape, .. } = prepared;
        let is_chat = self.wire.name == ApiKind::Chat;
        let mut limit = match self.wire.limit {
            Some(limit) => Some(limit(request, shape.quirks, prepared.thinking()).tokens),
            None => max_tokens(request).map(|limit| shape.quirks.limited(limit)),
        };
        for field in ["max_tokens", "max_completion_tokens", "max_output_tokens"] {
            if request.extra.contains_key(field) {
                limit = None;
            }
        }
        let choice = match prepared.tool_choice() {
            Some(ToolChoice::Named(_)) => Some(Choice::ByName),
            Some(ToolChoice::Any) => Some(Choice::Any),
            Some(ToolChoice::Nothing) | None => None,
        };
        let users = request.extra.keys().map(String::as_str);
        Sent {
            situation: shape.situation,
            quirks: shape.quirks,
            parts: self.sent_parts(prepared),
            limit: limit.map(|limit| (limit, is_chat && !shape.quirks.max_completion_tokens)),
            effort: shape.thinking.filter(|_| !shape.without_thoughts),
            format: shape.schema.map(|(format, _)| format),
            choice,
            functions: request.tools.iter().map(|tool| &*tool.name).collect(),
            users: users
                .filter(|field| !self.wire.joined.contains(field))
                .collect(),
        }
    }

    /// The parts of the request that a refusal may be about, and that a next
    /// request can be without.
    fn sent_parts(&self, prepared: &PreparedRequest<'_>) -> Parts {
        let mut parts = Parts::default();
        for (part, is_in) in self.conversation_parts(prepared) {
            parts = parts.with_if(part, is_in && !prepared.leaves_out(part));
        }
        for (part, is_in) in self.option_parts(prepared) {
            parts = parts.with_if(part, is_in && !prepared.leaves_out(part));
        }
        let searches = prepared.may_search_tools && !prepared.leaves_out(Part::ToolSearch);
        parts.with_if(Part::ToolSearch, searches)
    }

    /// Parts that have to do with the messages.
    fn conversation_parts(&self, prepared: &PreparedRequest<'_>) -> [(Part, bool); 8] {
        let PreparedRequest { request, shape, .. } = prepared;
        let messages = &request.messages;
        let is_instructed = matches!(
            shape.schema,
            Some((ResponseFormat::JsonObject | ResponseFormat::Prompt, _))
        );
        let has_system = messages.iter().any(|message| message.role == Role::System)
            || is_instructed
            || shape.quirks.unenforced.is_some();
        let may_be_bare = self.wire.name == ApiKind::Chat && messages.iter().any(is_answer);
        let has_bound_thoughts = shape.carries && prepared.may_drop_bound_thoughts();
        [
            (Part::System, has_system),
            (Part::Carried, shape.carries),
            (Part::CarriedFields, shape.carries),
            (Part::BareAnswers, may_be_bare),
            (Part::BoundThoughts, has_bound_thoughts),
            (Part::CallIds, messages.iter().any(has_id)),
            (Part::Thoughts, !shape.no_thinking),
            (Part::Choices, shape.choices),
        ]
    }

    /// Parts that are fields beside them.
    fn option_parts(&self, prepared: &PreparedRequest<'_>) -> [(Part, bool); 13] {
        let PreparedRequest { request, shape, .. } = prepared;
        let extra = &request.extra;
        let wire = self.wire.name;
        let is_responses = wire == ApiKind::Responses;
        let is_gemini = wire == ApiKind::Gemini;
        let has_function = prepared.function().is_some();
        let has_functions = shape.tools || has_function;
        let has_stream_options =
            wire == ApiKind::Chat && prepared.streams && !extra.contains_key("stream_options");
        let thinks = shape.thinking.is_some_and(|(_, way)| way.thinks());
        let forbids_parallel_calls =
            has_function && !shape.tools && !extra.contains_key("parallel_tool_calls");
        let is_marked = wire == ApiKind::Anthropic && prepared.cache.marks();
        let sees_server_tools = is_gemini && prepared.sees_server_side_tools();
        [
            (Part::Temperature, temperature(request).is_some()),
            (Part::Stream, prepared.streams),
            (Part::StreamOptions, has_stream_options),
            (Part::Include, is_responses),
            (Part::Store, is_responses && !extra.contains_key("store")),
            (Part::Summary, is_responses && thinks),
            (Part::ParallelCalls, forbids_parallel_calls),
            (Part::StrictFunctions, prepared.has_strict_functions(wire)),
            (Part::Cache, is_marked),
            (Part::CacheOptions, prepared.cache.options.is_some()),
            (Part::CacheKey, prepared.cache.key.is_some()),
            (Part::JsonSchemaParameters, is_gemini && has_functions),
            (Part::ServerSideTools, sees_server_tools),
        ]
    }

    /// Behind the server's own words, what a person can do.
    fn hint(
        &self,
        category: Category,
        refusal: &Refusal<'_>,
        prepared: &PreparedRequest<'_>,
    ) -> String {
        let says_tools = [
            "does not support tools",
            "tools are not supported",
            "support tool use",
            "support function calling",
            "function calling is not",
            "tool calling is not",
            "requires --jinja",
            "auto-tool-choice",
        ];
        match category {
            Category::BadRequest | Category::NotFound
                if prepared.shape.tools
                    && says_tools
                        .iter()
                        .any(|phrase| refusal.text.contains(phrase)) =>
            {
                "; this endpoint, or this model, takes no tools: ask another one, or drop the \
                 node's `tools`"
                    .to_owned()
            }
            Category::BadRequest | Category::NotFound
                if names_responses(&self.refused_way(refusal, prepared)) =>
            {
                "; ask by the Responses API, with `.responses()`, if the server has it".to_owned()
            }
            // The proxy's refusal, not the server's.
            Category::ConfigError => PROXY_CREDENTIALS.to_owned(),
            Category::ApiKeyError => self.key_hint.clone(),
            Category::NotFound if is_about_the_request(refusal.text) => String::new(),
            Category::NotFound => {
                let endpoint = &self.service.endpoint;
                let lookalike = model_hint(&endpoint.host(), prepared.model);
                format!(
                    "; asked for the model {:?}{}{lookalike}",
                    prepared.model,
                    endpoint.hint()
                )
            }
            Category::QuotaError => "; waiting will not help".to_owned(),
            _ => String::new(),
        }
    }
}

fn is_answer(message: &Message) -> bool {
    message.role == Role::Assistant
}

/// Of an endpoint, a route or a parameter, not of a model's name.
fn is_about_the_request(text: &str) -> bool {
    [
        "endpoint",
        "endpoints",
        "parameter",
        "parameters",
        "route",
        "routes",
        "providers",
        "url",
        "v1",
    ]
    .iter()
    .any(|word| has_word(text, word))
}

pub(super) fn has_id(message: &Message) -> bool {
    !message.calls().is_empty() || message.answers().is_some()
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
