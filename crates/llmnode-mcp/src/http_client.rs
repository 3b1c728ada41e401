//! HTTP for rmcp's transport, through our own service: requests, and responses of bounded size.
//!
//! What a server answers is [mended](crate::message) before rmcp reads it. What is
//! no answer is a [`Failure`], which becomes the answer to its request: so rmcp
//! keeps the connection, and whoever asked decides what follows. A notification
//! that fails is only noted, since the next request fails as well.

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_core::stream::BoxStream;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use llmnode_http::ext::{ClientError, PlainClient, ResponseBody};
use llmnode_runtime::Category;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use serde_json::Value;
use sse_stream::Sse;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::clean;
use crate::events::{Listening, events};
use crate::failure::Failure;
use crate::message::{self, Awaited};
use crate::secret::Secrets;
use crate::unanswered::Unanswered;

type Error = StreamableHttpError<ClientError>;

/// Of what a server says in a refusal.
const MAX_WORDS: usize = 300;

#[derive(Clone)]
pub(crate) struct HttpClient {
    http: PlainClient,
    secrets: Arc<Secrets>,
    attempt: Attempt,
    /// After this time without an answer to `server/discover` a server is taken for an older one.
    probe: Duration,
    /// How many streams are open on which answers may come that no response brought.
    listening: Arc<AtomicUsize>,
    /// A request was accepted, and its answer has not come with the response.
    pub(crate) accepted: Arc<AtomicBool>,
    unanswered: Unanswered,
}

/// Whether the connection has been established. The sender is dropped if that
/// failed, or if nobody waits any more.
#[derive(Clone)]
struct Attempt(watch::Receiver<bool>);

impl Attempt {
    async fn given_up(mut self) {
        if self.0.wait_for(|is_made| *is_made).await.is_ok() {
            pending::<()>().await;
        }
    }
}

/// Shared by the requests of a session.
struct Session {
    id: Option<Arc<str>>,
    token: Option<String>,
    headers: HashMap<HeaderName, HeaderValue>,
}

impl StreamableHttpClient for HttpClient {
    type Error = ClientError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        id: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, id, token, headers, limits)
            .await
    }

    async fn post_message_with_response_limits(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        id: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Error> {
        self.unless_given_up(self.post(message, Session { id, token, headers }, limits))
            .await
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        id: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        let session = Session {
            id: Some(id),
            token,
            headers,
        };
        let request = self.request(Method::DELETE, session, Bytes::new())?;
        let response = self
            .http
            .send(request)
            .await
            .map_err(StreamableHttpError::Client)?;
        // A server need not support deletion.
        if response.status().is_success() || response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Ok(());
        }
        Err(unexpected(response.status()))
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        id: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        let limit = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, id, last_event, token, headers, limit)
            .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        _: Arc<str>,
        id: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limit: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        let session = Session { id, token, headers };
        self.unless_given_up(self.get(session, last_event, limit))
            .await
    }
}

impl HttpClient {
    /// The sender reports the connection to the client; until then, dropping it ends all requests.
    pub(crate) fn new(
        http: PlainClient,
        secrets: Secrets,
        probe: Duration,
    ) -> (Self, watch::Sender<bool>) {
        let (client_made, attempt) = watch::channel(false);
        let client = HttpClient {
            http,
            secrets: Arc::new(secrets),
            attempt: Attempt(attempt),
            probe,
            listening: Arc::default(),
            accepted: Arc::default(),
            unanswered: Unanswered::default(),
        };
        (client, client_made)
    }

    /// The transport's task would wait for as long as the server keeps its connection.
    async fn unless_given_up<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let mut work = pin!(work);
        let mut given_up = pin!(self.attempt.clone().given_up());
        poll_fn(|cx| match given_up.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(StreamableHttpError::TransportChannelClosed)),
            Poll::Pending => work.as_mut().poll(cx),
        })
        .await
    }

    async fn post(
        &self,
        message: ClientJsonRpcMessage,
        session: Session,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let JsonRpcMessage::Request(request) = &message else {
            let _answering = self.unanswered.answering(&message);
            if let Err(failure) = self.exchange(&message, session, limits, None).await {
                let why = self.secrets.redact(&failure.of_a_connection());
                tracing::debug!("a notification was not taken: {why}");
            }
            return Ok(StreamableHttpPostResponse::Accepted);
        };
        let is_discovery = matches!(request.request, ClientRequest::DiscoverRequest(_));
        let awaited = Awaited {
            id: serde_json::to_value(&request.id)?,
            is_discovery,
        };
        let exchange = self.exchange(&message, session, limits, Some(awaited));
        let answered = if is_discovery {
            let silent = Failure {
                category: Category::Timeout,
                ..Failure::lost("it does not answer")
            };
            timeout(self.probe, exchange).await.unwrap_or(Err(silent))
        } else {
            exchange.await
        };
        Ok(answered.unwrap_or_else(|failure| failed(failure, &request.id)))
    }

    /// Sends a message, and reads the beginning of what comes back.
    async fn exchange(
        &self,
        message: &ClientJsonRpcMessage,
        session: Session,
        limits: StreamableHttpResponseLimits,
        awaited: Option<Awaited>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let has_session = session.id.is_some();
        let has_token = session.token.is_some();
        let body = serde_json::to_vec(message)
            .map_err(|error| Failure::lost(error.to_string()).unsent())?;
        let request = self.request(Method::POST, session, Bytes::from(body));
        let request = request.map_err(|error| Failure::lost(error.to_string()).unsent())?;
        let response = self
            .http
            .send(request)
            .await
            .map_err(|error| no_response(&error))?;
        match response.status() {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => self.accepted(awaited.is_some()),
            StatusCode::NOT_FOUND if has_session => Err(session_ended("it no longer knows it")),
            status if status.is_success() => self.answer(response, awaited, limits).await,
            _ => {
                let refusal = Refusal {
                    has_session,
                    has_token,
                };
                refusal.read(response, awaited.as_ref(), limits).await
            }
        }
    }

    /// The answer may come on a stream that is open. Without one it never comes.
    fn accepted(&self, is_awaited: bool) -> Result<StreamableHttpPostResponse, Failure> {
        if is_awaited {
            if self.listening.load(Ordering::Relaxed) == 0 {
                return Err(Failure {
                    category: Category::BadResponse,
                    what: "accepted the request without an answer".to_owned(),
                    ..Failure::lost("")
                });
            }
            self.accepted.store(true, Ordering::Relaxed);
        }
        Ok(StreamableHttpPostResponse::Accepted)
    }

    async fn get(
        &self,
        session: Session,
        last_event: Option<String>,
        limit: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        let mut request = self.request(Method::GET, session, Bytes::new())?;
        if let Some(last_event) = last_event {
            request
                .headers_mut()
                .insert(name(HEADER_LAST_EVENT_ID)?, value(&last_event)?);
        }
        let response = self
            .http
            .send(request)
            .await
            .map_err(StreamableHttpError::Client)?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(unexpected(status)),
            _ => match content_type(response.headers()) {
                Some(EVENT_STREAM_MIME_TYPE | JSON_MIME_TYPE) => {
                    let listening = Listening::new(&self.listening);
                    Ok(self.events(response.into_body(), limit, None, Some(listening)))
                }
                other => Err(StreamableHttpError::UnexpectedContentType(
                    other.map(str::to_owned),
                )),
            },
        }
    }

    /// Only requests wait for an answer.
    async fn answer(
        &self,
        response: Response<ResponseBody>,
        awaited: Option<Awaited>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let (head, mut body) = response.into_parts();
        let session = head
            .headers
            .get(HEADER_SESSION_ID)
            .and_then(|id| id.to_str().ok())
            .map(str::to_owned);
        let kind = content_type(&head.headers);
        if kind == Some(EVENT_STREAM_MIME_TYPE) {
            let events = self.events(body, limits.max_sse_event_size, awaited, None);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        if awaited.is_none() {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let body_read = read(&mut body, limits.max_json_response_size).await?;
        let message = message::read(&body_read, awaited.as_ref());
        match message.map(serde_json::from_value) {
            Some(Ok(message)) => Ok(StreamableHttpPostResponse::Json(message, session)),
            _ if is_page(kind, &body_read) => Err(Failure::unreadable(
                "answered with a web page",
                "is this the URL of an MCP server?",
            )),
            _ => Err(Failure::unreadable(
                "answered with something that is no message of MCP",
                "",
            )),
        }
    }

    fn events(
        &self,
        body: ResponseBody,
        limit: usize,
        awaited: Option<Awaited>,
        listening: Option<Listening>,
    ) -> BoxStream<'static, Result<Sse, SseError>> {
        events(
            body,
            limit,
            Box::pin(self.attempt.clone().given_up()),
            awaited,
            listening,
            self.unanswered.clone(),
        )
    }

    fn request(
        &self,
        method: Method,
        session: Session,
        body: Bytes,
    ) -> Result<Request<Bytes>, Error> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = self.http.uri();
        let headers = request.headers_mut();
        headers.extend(session.headers);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON_MIME_TYPE));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("text/event-stream, application/json"),
        );
        if let Some(id) = session.id {
            headers.insert(name(HEADER_SESSION_ID)?, value(&id)?);
        }
        if let Some(token) = session.token {
            let mut token = value(&format!("Bearer {token}"))?;
            token.set_sensitive(true);
            headers.insert(AUTHORIZATION, token);
        }
        Ok(request)
    }
}

/// A failure as the answer to a request.
fn failed(failure: Failure, id: &RequestId) -> StreamableHttpPostResponse {
    let error = ServerJsonRpcMessage::error(failure.into_error(), Some(id.clone()));
    StreamableHttpPostResponse::Json(error, None)
}

fn no_response(error: &ClientError) -> Failure {
    let category = if error.is_timeout() {
        Category::Timeout
    } else {
        Category::Network
    };
    let lost = Failure {
        category,
        ..Failure::lost(error.cause())
    };
    if error.is_unsent() {
        return Failure {
            what: "cannot be reached".to_owned(),
            ..lost.unsent()
        };
    }
    lost
}

fn session_ended(why: &str) -> Failure {
    Failure {
        category: Category::NotFound,
        what: "has ended the session".to_owned(),
        ..Failure::lost(format!("{why}; the next call begins a new one")).unsent()
    }
}

/// A response that says no.
struct Refusal {
    has_session: bool,
    has_token: bool,
}

impl Refusal {
    /// An error of JSON-RPC is the server's own answer, unless its status says more than it does.
    async fn read(
        &self,
        response: Response<ResponseBody>,
        awaited: Option<&Awaited>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let (head, mut body) = response.into_parts();
        let status = head.status;
        let bytes = begin(&mut body, limits.max_error_response_size).await;
        let text = String::from_utf8_lossy(&bytes);
        if self.has_session
            && status == StatusCode::BAD_REQUEST
            && text.to_lowercase().contains("session")
        {
            return Err(session_ended(&words(content_type(&head.headers), &bytes)));
        }
        let is_told_by_status = matches!(
            status,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS
        );
        if status.is_client_error() && !is_told_by_status {
            let message = message::read(&bytes, awaited);
            if let Some(Ok(error @ ServerJsonRpcMessage::Error(_))) =
                message.map(serde_json::from_value)
            {
                return Ok(StreamableHttpPostResponse::Json(error, None));
            }
        }
        Err(self.failure(status, &words(content_type(&head.headers), &bytes)))
    }

    fn failure(&self, status: StatusCode, why_not: &str) -> Failure {
        let mut why = format!("HTTP {status}");
        if !why_not.is_empty() {
            why = format!("{why}: {why_not}");
        }
        if status == StatusCode::UNAUTHORIZED {
            why.push_str(if self.has_token {
                "; is the token still valid?"
            } else {
                "; give it a token with `bearer_env`"
            });
        }
        let category = match status.as_u16() {
            413 => Category::BadRequest,
            status => PlainClient::category(status),
        };
        let is_token = category == Category::ApiKeyError;
        let what = if status.is_server_error() {
            "failed"
        } else {
            "refused the request"
        };
        // With a new connection the token is read anew.
        let lost = Failure {
            category,
            what: what.to_owned(),
            is_lost: is_token,
            ..Failure::lost(why)
        };
        if status.is_server_error() {
            lost
        } else {
            lost.unsent()
        }
    }
}

/// What a server says about its refusal: the message of an error, or a text, but no page.
fn words(kind: Option<&str>, bytes: &[u8]) -> String {
    if is_page(kind, bytes) {
        return "a web page".to_owned();
    }
    let text = match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(members)) => {
            let error = members.get("error").unwrap_or(&Value::Null);
            let texts = [
                &error["message"],
                error,
                members.get("message").unwrap_or(&Value::Null),
            ];
            texts
                .into_iter()
                .find_map(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        }
        Ok(Value::String(text)) => text,
        Ok(_) => String::new(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    };
    clean::without_hidden(text.trim(), MAX_WORDS)
}

fn is_page(kind: Option<&str>, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(256)])
        .trim_start()
        .to_lowercase();
    kind == Some("text/html") || text.starts_with("<!doctype") || text.starts_with("<html")
}

/// The announced length is not trusted: memory grows with what arrives.
async fn read(body: &mut ResponseBody, max_size: usize) -> Result<Vec<u8>, Failure> {
    if body.length().is_some_and(|length| length > max_size as u64) {
        return Err(too_large(max_size));
    }
    let mut read = Vec::new();
    while let Some(bytes) = body
        .chunk()
        .await
        .map_err(|error| Failure::lost(error.cause()))?
    {
        if bytes.len() > max_size - read.len() {
            return Err(too_large(max_size));
        }
        read.extend_from_slice(&bytes);
    }
    Ok(read)
}

fn too_large(max_size: usize) -> Failure {
    Failure::unreadable(
        "answered with too much",
        format!("more than {max_size} bytes"),
    )
}

async fn begin(body: &mut ResponseBody, max_size: usize) -> Vec<u8> {
    let mut read = Vec::new();
    while read.len() < max_size
        && let Ok(Some(bytes)) = body.chunk().await
    {
        read.extend_from_slice(&bytes[..bytes.len().min(max_size - read.len())]);
    }
    read
}

/// Lower case, without its parameters.
fn content_type(headers: &HeaderMap) -> Option<&str> {
    let value = headers
        .get(CONTENT_TYPE)?
        .to_str()
        .ok()?
        .split(';')
        .next()?
        .trim();
    let types = [JSON_MIME_TYPE, EVENT_STREAM_MIME_TYPE, "text/html"];
    Some(
        types
            .into_iter()
            .find(|media_type| media_type.eq_ignore_ascii_case(value))
            .unwrap_or(value),
    )
}

fn unexpected(status: StatusCode) -> Error {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!("HTTP {status}")))
}

fn name(name: &str) -> Result<HeaderName, Error> {
    name.parse()
        .map_err(|_| StreamableHttpError::ReservedHeaderConflict(name.to_owned()))
}

fn value(text: &str) -> Result<HeaderValue, Error> {
    let fault = "a header's value has a character that headers cannot have";
    HeaderValue::from_str(text)
        .map_err(|_| StreamableHttpError::UnexpectedServerResponse(fault.into()))
}
