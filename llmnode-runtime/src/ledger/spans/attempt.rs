//! The span of an attempt: a client's request to a model, by the conventions of OpenTelemetry.

use llmnode_model::{Category, ChatModel, Completion, Request, TokenUsage};
use llmnode_reader::text::floor_char_boundary;
use tracing::Span;
use tracing::field::{self, Empty};

use super::content;
use super::names::*;
use crate::ledger::{AttemptRecord, CacheLost, milliseconds};

pub(crate) struct RequestInfo<'a> {
    pub(crate) operation: &'static str,
    pub(crate) provider: &'a str,
    pub(crate) server: Option<(&'a str, u16)>,
    /// The server's default, if the request names no model.
    pub(crate) model: Option<&'a str>,
    pub(crate) chat: Option<&'a Request>,
}

impl<'a> RequestInfo<'a> {
    pub(crate) fn chat(model: &'a dyn ChatModel, request: &'a Request) -> Self {
        RequestInfo {
            operation: "chat",
            provider: model.provider(),
            server: model.server(),
            model: model.model(),
            chat: Some(request),
        }
    }
}

pub(crate) struct AttemptSpan {
    span: Span,
    content: bool,
}

impl AttemptSpan {
    pub(crate) fn none() -> Self {
        AttemptSpan {
            span: Span::none(),
            content: false,
        }
    }

    pub(crate) fn begin(
        node: &str,
        record: &AttemptRecord,
        info: &RequestInfo<'_>,
        content: bool,
    ) -> Self {
        // None of this is evaluated unless a subscriber listens.
        let RequestInfo {
            operation, chat, ..
        } = *info;
        let name = chat
            .and_then(|request| request.model.as_deref())
            .or(info.model)
            .or(record.model.as_deref());
        let span = tracing::info_span!(
            target: "llmnode::attempt",
            "attempt",
            { NAME } = %title(operation, name),
            { KIND } = "client",
            { OPERATION } = operation,
            { PROVIDER } = info.provider,
            { OUTPUT_TYPE } = chat.map(|request| if request.output.is_some() { "json" } else { "text" }),
            { REQUEST_MODEL } = name,
            { REQUEST_MAX_TOKENS } = chat.and_then(|request| request.max_tokens).map(i64::from),
            { REQUEST_TEMPERATURE } = chat.and_then(|request| request.temperature),
            { SERVER_ADDRESS } = info.server.map(|(host, _)| host),
            { SERVER_PORT } = info.server.map(|(_, port)| i64::from(port)),
            { NODE } = node,
            { CALL_ID } = %record.id.call(),
            { ATTEMPT_ID } = %record.id,
            { ATTEMPT_KIND } = record.kind.as_str(),
            { ATTEMPT_WAIT } = integer(milliseconds::whole(record.wait)),
            { INPUT_MESSAGES } = chat.filter(|_| content).map(|request| field::display(content::input(&request.messages))),
            { TOOL_DEFINITIONS } = chat.filter(|chat| content && !chat.tools.is_empty()).map(|request| field::display(content::tools(&request.tools))),
            { OUTPUT_MESSAGES } = Empty,
            { RESPONSE_ID } = Empty,
            { RESPONSE_MODEL } = Empty,
            { RESPONSE_FINISH_REASONS } = Empty,
            { TIME_TO_FIRST_CHUNK } = Empty,
            { INPUT_TOKENS } = Empty,
            { OUTPUT_TOKENS } = Empty,
            { CACHED_TOKENS } = Empty,
            { CACHE_WRITE_TOKENS } = Empty,
            { REASONING_TOKENS } = Empty,
            { ATTEMPT_COST } = Empty,
            { CACHE_LOST } = Empty,
            { CACHE_CHANGED } = Empty,
            { REQUEST_ID } = Empty,
            { HTTP_STATUS } = Empty,
            { ERROR_TYPE } = Empty,
            { STATUS } = Empty,
            { STATUS_DESCRIPTION } = Empty,
        );
        AttemptSpan { span, content }
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    pub(crate) fn answered(&self, completion: &Completion) {
        if self.span.is_disabled() {
            return;
        }
        self.word(RESPONSE_ID, completion.response_id.as_deref());
        self.word(RESPONSE_MODEL, completion.model.as_deref());
        if let Some(finish) = &completion.finish {
            self.span.record(
                RESPONSE_FINISH_REASONS,
                field::display(content::list(short(finish.as_str()))),
            );
        }
        if self.content {
            self.span
                .record(OUTPUT_MESSAGES, field::display(content::output(completion)));
        }
    }

    pub(crate) fn end(&self, record: &AttemptRecord) {
        if self.span.is_disabled() {
            return;
        }
        let TokenUsage {
            input,
            output,
            cached,
            cache_write,
            reasoning,
            ..
        } = record.usage.unwrap_or_default();
        for (name, tokens) in [
            (INPUT_TOKENS, input),
            (OUTPUT_TOKENS, output),
            (CACHED_TOKENS, cached),
            (CACHE_WRITE_TOKENS, cache_write),
            (REASONING_TOKENS, reasoning),
        ] {
            if let Some(tokens) = tokens {
                self.span.record(name, integer(tokens));
            }
        }
        if let Some(elapsed) = record.first_chunk {
            self.span.record(TIME_TO_FIRST_CHUNK, elapsed.as_secs_f64());
        }
        if let Some(cost) = record.cost {
            self.span.record(ATTEMPT_COST, cost);
        }
        let lost = record.cache_lost();
        if !lost.is_unknown() {
            self.span.record(CACHE_LOST, lost.as_str());
        }
        if let CacheLost::Changed { part } = lost {
            self.word(CACHE_CHANGED, Some(part));
        }
        self.word(REQUEST_ID, record.request_id.as_deref());
        if let Some(status) = record.status {
            self.span.record(HTTP_STATUS, i64::from(status));
        }
        if let Some(category) = record.category {
            match record.status {
                Some(status) => self.failed_as(category, &format!("{category} (HTTP {status})")),
                None => self.failed(category),
            }
        }
    }

    pub(crate) fn failed(&self, category: Category) {
        self.failed_as(category, category.as_str());
    }

    /// Never the message: it may quote content.
    fn failed_as(&self, category: Category, description: &str) {
        self.span
            .record(ERROR_TYPE, category.as_str())
            .record(STATUS, "ERROR");
        self.span.record(STATUS_DESCRIPTION, description);
    }

    fn word(&self, name: &str, word: Option<&str>) {
        if let Some(word) = word {
            self.span.record(name, short(word));
        }
    }
}

fn short(word: &str) -> &str {
    &word[..floor_char_boundary(word, 200)]
}

/// The span name that the conventions ask for.
fn title(operation: &str, model: Option<&str>) -> String {
    model.map_or_else(
        || operation.to_owned(),
        |model| format!("{operation} {model}"),
    )
}

fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
