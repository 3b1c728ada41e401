//! What becomes of a response without an answer: its category, whether to try again, and a message for a person.

use std::time::SystemTime;

use llmnode_model::internal::redact;
use llmnode_model::{Category, Group, ModelError, Retry, Sink};
use llmnode_reader::Flag;
use llmnode_reader::internal::one_line;

use super::inner::Inner;
use super::prepared_request::{PreparedRequest, max_tokens, temperature};
use super::response_head::ResponseHead;
use crate::http::error_body::ErrorBody;
use crate::http::lookalikes::model_hint;
use crate::http::refused_turns::TurnPart;
use crate::http::service::PROXY_CREDENTIALS;
use crate::http::unsupported::{UnsupportedFeature, unsupported};
use crate::http::{classify, retry_after, wait_hint};

impl Inner {
    pub(crate) fn refusal(
        &self,
        head: &ResponseHead,
        body: &[u8],
        asked: &PreparedRequest<'_>,
        sink: &mut dyn Sink,
    ) -> ModelError {
        let status = head.status.as_u16();
        let is_readable = !head.encoded || std::str::from_utf8(body).is_ok();
        let error = ErrorBody::read(if is_readable { body } else { b"" });
        let takes_no_tools = asked.shape.tools
            && unsupported(status, &error, asked.shape.thinking) == Some(UnsupportedFeature::Tools);
        let category =
            if takes_no_tools { Category::ConfigError } else { classify::classify(status, &error) };
        if category == Category::NotFound {
            self.redirects.forget();
        }
        // Redacted before it is cut, since half a key is not recognised.
        let said = match redact(&error.message, &asked.secrets) {
            said if said.is_empty() => "nothing more".to_owned(),
            said => one_line(&said, 500),
        };
        let shown = &self.service.endpoint.shown;
        let hint = match takes_no_tools {
            true => {
                "; this endpoint, or this model, takes no tools: ask another one, or drop the node's `tools`"
                    .to_owned()
            }
            false => self.hint(category, asked.model),
        };
        let mut failure = ModelError::new(category, format!("{shown} answered {status}: {said}{hint}"));
        failure.status = Some(status);
        failure.request_id.clone_from(&head.request_id);
        // Only for errors that waiting helps against: other texts may quote the prompt.
        let hint = || wait_hint::wait_hint(&error.message).filter(|_| category.group() == Group::Transport);
        let wait = retry_after::retry_after(&head.headers, SystemTime::now());
        failure.retry_after = wait.max(error.retry_after).or_else(hint);
        failure.usage = error.usage.0.map(Box::new);
        if error.usage.1 {
            sink.flag(Flag::ImpossibleUsage);
        }
        failure.retry = if takes_no_tools {
            None
        } else if self.learns(status, &error, asked) {
            Some(Retry::Adapted)
        } else {
            retry_after::should_retry(&head.headers)
                .map(|again| if again { Retry::Transport } else { Retry::No })
        };
        failure
    }

    /// A body with `Content-Encoding` that has no answer as it is.
    pub(crate) fn encoded(&self, body: &[u8]) -> ModelError {
        let shown = &self.service.endpoint.shown;
        if std::str::from_utf8(body).is_ok() {
            let message = format!("{shown}: the response is marked as compressed, and is not");
            return ModelError::new(Category::Network, message);
        }
        let message = format!(
            "{shown}: the response is compressed, although `accept-encoding: identity` was sent; switch compression \
             off in the server, or in a proxy before it"
        );
        ModelError::new(Category::BadResponse, message).retry(Retry::No)
    }

    pub(crate) fn web_page(&self, body: &[u8], asked: &PreparedRequest<'_>) -> ModelError {
        let begin = String::from_utf8_lossy(&body[..body.len().min(4096)]);
        let message = format!(
            "{} answered with a web page, not JSON: a wrong base URL (most end with /v1), or a proxy's page. It \
             begins: {}",
            self.service.endpoint.shown,
            one_line(redact(&begin, &asked.secrets).trim(), 200),
        );
        ModelError::new(Category::BadResponse, message).retry(Retry::No)
    }

    fn learns(&self, status: u16, error: &ErrorBody, asked: &PreparedRequest<'_>) -> bool {
        let limit = max_tokens_allowed(&error.message).filter(|_| status == 400);
        if let Some(most) = limit.filter(|_| !asked.request.extra.contains_key("max_tokens")) {
            return self.capabilities.limit_tokens(asked.model, asked.shape, most);
        }
        let Some(part) = unsupported(status, error, asked.shape.thinking) else { return false };
        // Another beginning may also have been sent for that remedy in vain, or has none on this API.
        let part = match part {
            UnsupportedFeature::Turn(TurnPart::BoundThoughts)
                if asked.shape.drops_bound_thoughts || !asked.may_drop_bound_thoughts() =>
            {
                UnsupportedFeature::Carried
            }
            part => part,
        };
        let is_ours = match part {
            UnsupportedFeature::MaxTokens => max_tokens(asked.request).is_some(),
            UnsupportedFeature::Temperature => temperature(asked.request).is_some(),
            UnsupportedFeature::Stream => asked.streams,
            UnsupportedFeature::StreamOptions => {
                asked.streams && !asked.request.extra.contains_key("stream_options")
            }
            UnsupportedFeature::Include => self.wire.joined.contains(&"include"),
            _ => true,
        };
        let learns = is_ours && self.capabilities.learn(asked.model, asked.shape, part);
        if learns {
            tracing::debug!(target: "llmnode::openai", model = asked.model, unsupported = ?part, "will ask differently");
        }
        learns
    }

    fn hint(&self, category: Category, model: &str) -> String {
        match category {
            Category::ApiKeyError => self.key_hint.clone(),
            Category::NotFound => {
                let endpoint = &self.service.endpoint;
                let lookalike = model_hint(&endpoint.host(), model);
                format!("; asked for the model {model:?}{}{lookalike}", endpoint.hint())
            }
            Category::ConfigError => PROXY_CREDENTIALS.to_owned(),
            Category::QuotaError => "; waiting will not help".to_owned(),
            _ => String::new(),
        }
    }
}

/// Anthropic: `max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens`.
fn max_tokens_allowed(message: &str) -> Option<u32> {
    let (_, rest) = message.split_once("max_tokens: ")?;
    let (_, most) = rest.split_once(" > ").filter(|(given, _)| given.parse::<u64>().is_ok())?;
    most.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
