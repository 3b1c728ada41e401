//! Small requests beside those to a model: to order a batch, to look at it, to cancel it.
//!
//! They use the same connections, keys and classification as requests to a model,
//! but none of the beliefs: nothing of them can be asked in another way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method};
use llmnode_model::ext::redact;
use llmnode_model::{Category, ModelError};
use llmnode_reader::ext::has_many_values;
use llmnode_reader::text::one_line;
use serde_json::Value;

use crate::api::ask::{unsent, without_secrets};
use crate::api::inner::Inner;
use crate::api::response_head::ResponseHead;
use crate::http::body::{Content, RequestBody};
use crate::http::client::{Request, Response};
use crate::http::endpoint::shown;
use crate::http::error_body::ErrorBody;
use crate::http::url::Url;
use crate::http::{classify, retry_after};

/// An order may have 200 MB.
const TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// An answer that is no file.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// What is sent.
pub(crate) struct Exchange {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) content_type: &'static str,
    pub(crate) body: Content,
}

impl Exchange {
    /// A request without a body.
    pub(crate) fn get(url: Url) -> Self {
        Exchange {
            method: Method::GET,
            url,
            content_type: "application/json",
            body: Bytes::new().into(),
        }
    }

    pub(crate) fn delete(url: Url) -> Self {
        Exchange {
            method: Method::DELETE,
            ..Exchange::get(url)
        }
    }

    /// A body that is JSON already.
    pub(crate) fn post(url: Url, body: impl Into<Content>) -> Self {
        Exchange {
            method: Method::POST,
            body: body.into(),
            ..Exchange::get(url)
        }
    }

    pub(crate) fn post_json(url: Url, body: &Value) -> Self {
        Exchange::post(url, Bytes::from(body.to_string()))
    }
}

impl Inner {
    /// A URL of the same API: its base, and this path behind it. `query`: empty, or
    /// with its question mark.
    pub(crate) fn batch_url(&self, path: &str, query: &str) -> Result<Url, ModelError> {
        let endpoint = &self.service.endpoint.url;
        let api_path = self.wire.api.path;
        let base = endpoint.path().strip_suffix(api_path).unwrap_or("/v1");
        let whole = format!(
            "{}://{}{base}{path}{query}",
            endpoint.scheme(),
            endpoint.authority()
        );
        Url::parse(&whole).map_err(|why| unsent(format!("the URL of a batch {why}")))
    }

    /// Returns the response, whatever its status.
    async fn send_exchange(&self, exchange: Exchange) -> Result<Response, ModelError> {
        let headers = self.headers.for_request().map_err(unsent)?;
        let mut map: HeaderMap = headers.headers;
        map.insert(
            CONTENT_TYPE,
            HeaderValue::from_static(exchange.content_type),
        );
        let begun = Arc::new(AtomicBool::new(false));
        let mut request = Request::new(RequestBody::of(exchange.body, Arc::clone(&begun)));
        *request.method_mut() = exchange.method;
        *request.uri_mut() = exchange.url.to_uri();
        *request.headers_mut() = map;
        let sending = tokio::time::timeout(TIMEOUT, self.service.client.send(request)).await;
        let outcome = match sending {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self
                .service
                .send_failure(&error, begun.load(Ordering::Relaxed))),
            Err(_) => {
                let message = format!("{}: no answer within {TIMEOUT:?}", shown(&exchange.url));
                Err(ModelError::new(Category::Timeout, message))
            }
        };
        outcome.map_err(|error| without_secrets(error, &headers.secrets))
    }

    /// Returns a response of success, of which nothing is read.
    pub(crate) async fn open_exchange(&self, exchange: Exchange) -> Result<Response, ModelError> {
        let shown_url = shown(&exchange.url);
        let mut response = self.send_exchange(exchange).await?;
        if let Some(elsewhere) = self.service.followed_elsewhere(&response) {
            return Err(elsewhere);
        }
        if response.status().is_success() {
            return Ok(response);
        }
        let head = ResponseHead::of(&mut response);
        let body = self.read_exchange(&mut response).await?;
        Err(self.exchange_refused(&shown_url, &head, &body))
    }

    /// Returns the JSON of a response of success that has no results.
    pub(crate) async fn exchange(&self, exchange: Exchange) -> Result<Value, ModelError> {
        let shown_url = shown(&exchange.url);
        let body = self.exchange_body(exchange).await?;
        if has_many_values(&body) {
            let message = format!("{shown_url} answered with too many values");
            return Err(ModelError::new(Category::BadResponse, message));
        }
        serde_json::from_slice(&body).map_err(|error| no_json(&shown_url, &error))
    }

    /// Returns the body of a response of success.
    pub(crate) async fn exchange_body(&self, exchange: Exchange) -> Result<Vec<u8>, ModelError> {
        let mut response = self.open_exchange(exchange).await?;
        self.read_exchange(&mut response).await
    }

    /// Up to a cap; only files of results are larger, and they are not read by
    /// this.
    async fn read_exchange(&self, response: &mut Response) -> Result<Vec<u8>, ModelError> {
        let deadline = self.service.deadline(None);
        let mut incoming = self.service.incoming(response.body_mut(), deadline);
        let mut body = Vec::new();
        while let Some(bytes) = incoming.next().await? {
            if body.len() + bytes.len() > MOST_BYTES {
                return Err(self.service.over_cap());
            }
            body.extend_from_slice(&bytes);
        }
        Ok(body)
    }

    /// The error of a response that is no success.
    fn exchange_refused(&self, shown_url: &str, head: &ResponseHead, body: &[u8]) -> ModelError {
        let status = head.status.as_u16();
        let error = ErrorBody::read(body);
        let category = classify::classify(status, &error);
        let words = match redact(&error.message, self.headers.secrets()) {
            words if words.is_empty() => "nothing more".to_owned(),
            words => words_of(&words),
        };
        let mut failure =
            ModelError::new(category, format!("{shown_url} answered {status}: {words}"));
        failure.status = Some(status);
        let id = head.request_id.clone();
        failure.request_id = id.map(|id| words_of(&redact(&id, self.headers.secrets())));
        failure.retry_after = retry_after::retry_after(&head.headers, SystemTime::now());
        failure
    }
}

/// Much of what a server says stands in the error of each line of a batch, so it is cut.
pub(crate) fn words_of(text: &str) -> String {
    one_line(text, 500)
}

/// The id of a batch or a file. It stands in the journal, and in the error of each line.
pub(crate) fn id_of(id: Option<&str>, what: &str) -> Result<String, ModelError> {
    const LONGEST: usize = 1_000;
    let usable = id.filter(|id| (1..=LONGEST).contains(&id.len()));
    usable.map(str::to_owned).ok_or_else(|| {
        let message = format!("{what} has no id in the answer");
        ModelError::new(Category::BadResponse, message)
    })
}

/// Of a response of success.
pub(crate) fn no_json(shown_url: &str, error: &serde_json::Error) -> ModelError {
    let message = format!("{shown_url} answered with something that is no JSON: {error}");
    ModelError::new(Category::BadResponse, message)
}
