//! OpenAI's embeddings: a vector for each text.
//!
//! What a server refuses of a request is [learned](super::embeddings_learned), and
//! not sent again.
//!
//! A request goes the way of a chat where it can: the same headers, redirects,
//! timeouts, categories and secrets. It has no messages, so nothing of a
//! conversation is prepared, and a refusal is compared with the texts instead.
//! Vectors are checked here, and not where they are used: a store that has taken in
//! a vector of another length, or one with a number that is none, cannot be mended
//! later.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::ext::check_request;
use llmnode_model::{
    AttemptId, Category, Completion, ModelError, Request, Retry, RetryBudget, Sink,
};
use llmnode_reader::Flag;
use serde::{Deserialize, Serialize};

use super::apis::OpenAi;
use super::embeddings_learned::{Learned, Lesson, Sent};
use crate::api::ask::{unsent, without_secrets};
use crate::api::cache_fields::CacheFields;
use crate::api::inner::Inner;
use crate::api::prepared_request::{PreparedRequest, RequestContext};
use crate::api::receive::ResponseBody;
use crate::api::request_shape::RequestShape;
use crate::api::response_head::ResponseHead;
use crate::http::error_body::{self, ErrorBody};
use crate::http::headers::RequestHeaders;
use crate::http::lenient::{object, text};
use crate::http::reported::{self, Reporting};
use crate::http::service::Outgoing;
use crate::http::usage::Usage;
use crate::refusal::message::without_prompt;

/// The embeddings endpoint of a model's server. `llmnode-rag` makes an embedder of it.
#[derive(Clone)]
pub struct EmbeddingsApi {
    inner: Arc<Inner>,
    learned: Arc<Learned>,
}

/// Floats are asked for as numbers, since base64 is not known to all servers.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [Cow<'a, str>],
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding_format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer<'a> {
    #[serde(borrow, deserialize_with = "text")]
    model: Option<Cow<'a, str>>,
    data: Vec<Item>,
    #[serde(deserialize_with = "object")]
    usage: Option<Usage>,
}

impl<'a> Reporting<'a> for Answer<'a> {
    type Figures = Usage;

    fn usage(&mut self) -> &mut Option<Usage> {
        &mut self.usage
    }
}

/// `index` is missing at some servers; then the order of the list counts.
#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl EmbeddingsApi {
    /// Creates the embeddings endpoint of this model's server, with its key, its
    /// client and its retry budget.
    pub fn of(model: &OpenAi) -> Self {
        let chat = model.0.chat();
        let endpoint = chat.service.endpoint.with_path("/embeddings");
        let inner = Inner {
            model: None,
            response_format: None,
            id_form: None,
            ..chat.at(&super::chat::CHAT, endpoint)
        };
        EmbeddingsApi {
            inner: Arc::new(inner),
            learned: Arc::default(),
        }
    }

    /// Returns how many texts a request may have, as far as the server has said so.
    pub fn most_texts(&self) -> Option<usize> {
        self.learned.most_texts()
    }

    /// Returns the retries that all calls of the endpoint share.
    pub fn retry_budget(&self) -> &RetryBudget {
        &self.inner.retry_budget
    }

    /// Returns host and port.
    pub fn server(&self) -> Option<(&str, u16)> {
        self.inner.service.endpoint.server()
    }

    /// Returns the URL, without its query.
    pub fn shown(&self) -> &str {
        &self.inner.service.endpoint.shown
    }

    /// Makes one request. Returns a vector for each text, in the same order; all
    /// have the same length, and all numbers are finite.
    ///
    /// # Errors
    /// The errors of a chat.
    // With what is below it, compiled only in a program that has embeddings.
    #[inline]
    pub async fn embed(
        &self,
        (model, dimensions): (&str, Option<usize>),
        texts: &[Cow<'_, str>],
        (id, timeout): (Option<AttemptId>, Option<Duration>),
        sink: &mut dyn Sink,
    ) -> Result<(Vec<Vec<f32>>, Completion), ModelError> {
        let inner = &*self.inner;
        check_request(inner.service.is_local, || inner.service.endpoint.host())
            .map_err(|fault| unprepared(fault, inner))?;
        let RequestHeaders { headers, secrets } = inner
            .headers
            .for_request()
            .map_err(|fault| unprepared(fault, inner))?;
        let request = Request::new(Vec::new());
        let deadline = inner.service.deadline(timeout);
        let shape = RequestShape::default();
        let prepared = PreparedRequest {
            names: None,
            request: &request,
            context: RequestContext::of(&request),
            model,
            tag: inner.wire.tag,
            joined: inner.wire.joined,
            id_form: inner.wire.id_form,
            shape,
            deadline,
            streams: false,
            cache: CacheFields::default(),
            secrets,
            may_search_tools: false,
        };
        let body = Body {
            model,
            input: texts,
            encoding_format: Some("float").filter(|_| self.learned.takes_format()),
            dimensions: dimensions.filter(|_| self.learned.takes_dimensions()),
        };
        self.learned
            .left_out(dimensions.is_some())
            .for_each(|part| sink.refused(part));
        let outcome = inner
            .embed(&body, &self.learned, headers, id, &prepared, sink)
            .await;
        outcome.map_err(|error| without_secrets(error, &prepared.secrets))
    }
}

/// An error from before the request.
fn unprepared(fault: String, inner: &Inner) -> ModelError {
    without_secrets(unsent(fault), inner.headers.secrets())
}

/// A request that may be refused.
struct RefusedTexts<'a> {
    learned: &'a Learned,
    sent: Sent,
    prepared: &'a PreparedRequest<'a>,
    request: &'a Body<'a>,
}

impl Inner {
    /// The way of a request to a model, without what a conversation needs.
    #[inline]
    async fn embed(
        &self,
        body: &Body<'_>,
        learned: &Learned,
        headers: http::HeaderMap,
        id: Option<AttemptId>,
        prepared: &PreparedRequest<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(Vec<Vec<f32>>, Completion), ModelError> {
        let texts = body.input.len();
        let sent = Sent {
            texts,
            format: body.encoding_format.is_some(),
            dimensions: body.dimensions.is_some(),
        };
        let written = serde_json::to_vec(body)
            .map_err(|error| unsent(format!("the request cannot be written as JSON: {error}")))?;
        let refused = RefusedTexts {
            learned,
            sent,
            prepared,
            request: body,
        };
        let url = self.redirects.current(&self.service.endpoint.url);
        let outgoing = Outgoing {
            url: &url,
            headers,
            body: written,
            id,
            streams: false,
        };
        let mut response = self.service.send(outgoing, prepared.deadline, sink).await?;
        if let Some(target) = self.service.redirect_target(&url, &response) {
            return Err(self.redirected(&url, &target?, response.status()));
        }
        let mut head = ResponseHead::of(&mut response);
        head.request_id = prepared.clean_word(head.request_id);
        if let Some(id) = &head.request_id {
            sink.request_id(id);
        }
        let received = self.body(response.body_mut(), prepared, sink).await;
        if !head.status.is_success() {
            let Ok(ResponseBody::Full { body, .. }) = received else {
                return Err(self.refusal(&head, &[], prepared, sink));
            };
            return Err(self.embeddings_refused(&head, &body, &refused, sink));
        }
        let read = match received {
            Ok(ResponseBody::Full { body, .. }) if error_body::is_error(&body) => {
                Err(self.embeddings_refused(&head, &body, &refused, sink))
            }
            Ok(ResponseBody::Full { body, .. }) => self.vectors(&body, texts, prepared, sink),
            Ok(ResponseBody::Events { .. }) => Err(self.no_vectors("is a stream of events")),
            Err(failure) => Err(failure),
        };
        match read {
            Ok((vectors, mut completion)) => {
                completion.request_id = head.request_id;
                Ok((vectors, completion))
            }
            Err(mut failure) => {
                failure.status = Some(head.status.as_u16());
                failure.request_id = head.request_id;
                Err(failure)
            }
        }
    }

    /// A refusal, from which the next request may have learned. What it quotes of
    /// the texts teaches nothing.
    fn embeddings_refused(
        &self,
        head: &ResponseHead,
        body: &[u8],
        refused: &RefusedTexts<'_>,
        sink: &mut dyn Sink,
    ) -> ModelError {
        let RefusedTexts {
            learned,
            sent,
            prepared,
            request,
        } = *refused;
        let mut failure = self.refusal(head, body, prepared, sink);
        let mut says = match failure.category {
            Category::BadRequest | Category::ContextLengthError | Category::NotFound => {
                ErrorBody::read(body)
            }
            _ => return failure,
        };
        let request = serde_json::to_value(request).unwrap_or_default();
        says.message = without_prompt(&says.message, &request, prepared.model);
        match learned.learn(&says, sent) {
            None => {}
            Some(Lesson::Key) => failure.retry = Some(Retry::Adapted),
            Some(Lesson::FewerTexts(most)) => {
                failure.category = Category::BadRequest;
                failure.retry = Some(Retry::No);
                failure.message.push_str(&format!(
                    "; a request had {} texts, and has at most {most} from now on: say so with \
                     `Embeddings::batch`",
                    sent.texts
                ));
            }
            // Whoever has made the request halves it, so that a single text is at fault in the end.
            Some(Lesson::ShorterRequest) => {
                failure.category = Category::ContextLengthError;
                failure.retry = Some(Retry::No);
                failure
                    .message
                    .push_str("; send fewer characters at once with `Embeddings::batch`");
            }
        }
        failure
    }

    /// One for each text, in order, finite, and all of one length: a store that
    /// takes others in cannot be mended later.
    #[inline]
    fn vectors(
        &self,
        body: &[u8],
        texts: usize,
        prepared: &PreparedRequest<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(Vec<Vec<f32>>, Completion), ModelError> {
        if body.trim_ascii_start().first() == Some(&b'<') {
            return Err(self.web_page(body, prepared));
        }
        let Answer {
            model,
            mut data,
            usage,
        } = reported::read(body)
            .map_err(|error| self.no_vectors(&format!("cannot be read as embeddings: {error}")))?;
        let (usage, impossible) = usage.as_ref().map(Usage::figures).unwrap_or_default();
        if impossible {
            sink.flag(Flag::ImpossibleUsage);
        }
        let mut completion = Completion::default();
        // Embeddings have no output, so zero is known.
        completion.usage = usage.map(|mut usage| {
            usage.output.get_or_insert(0);
            usage
        });
        completion.model = prepared.clean_word(model.map(Cow::into_owned));
        let is_indexed = data.iter().any(|item| item.index.is_some());
        data.sort_by_key(|item| item.index);
        let is_in_order = data
            .iter()
            .enumerate()
            .all(|(place, item)| item.index == Some(place));
        let dimensions = data.first().map_or(0, |item| item.embedding.len());
        let fault = if data.len() != texts {
            Some(format!("has {} embeddings for {texts} texts", data.len()))
        } else if is_indexed && !is_in_order {
            Some(format!(
                "has indices that are missing or double; they should be 0 to {}",
                texts.saturating_sub(1)
            ))
        } else if dimensions == 0 || data.iter().any(|item| item.embedding.len() != dimensions) {
            Some("has embeddings that are empty, or of different lengths".to_owned())
        } else if data
            .iter()
            .flat_map(|item| &item.embedding)
            .any(|number| !number.is_finite())
        {
            Some("has a number in an embedding that is too large".to_owned())
        } else {
            None
        };
        match fault {
            // What it has cost is known all the same.
            Some(fault) => {
                let mut failure = self.no_vectors(&fault);
                failure.usage = completion.usage.map(Box::new);
                Err(failure)
            }
            None => Ok((
                data.into_iter().map(|item| item.embedding).collect(),
                completion,
            )),
        }
    }

    /// Another attempt would get the same.
    fn no_vectors(&self, fault: &str) -> ModelError {
        let message = format!("{}: the response {fault}", self.service.endpoint.shown);
        ModelError::new(Category::BadResponse, message).retry(Retry::No)
    }
}
