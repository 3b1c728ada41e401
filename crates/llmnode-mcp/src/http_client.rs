//! HTTP for rmcp's transport, through our own service: requests, and responses of bounded size.

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use futures_core::stream::BoxStream;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use llmnode_http::__private::{ClientError, PlainClient, ResponseBody};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient,
    StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::Sse;
use tokio::sync::watch;

use crate::events::events;

type Failure = StreamableHttpError<ClientError>;

#[derive(Clone)]
pub(crate) struct HttpClient {
    http: PlainClient,
    attempt: Attempt,
}

/// Whether the connection has been established. The sender is dropped if that failed, or if nobody waits any more.
#[derive(Clone)]
struct Attempt(watch::Receiver<bool>);

impl Attempt {
    async fn given_up(mut self) {
        if self.0.wait_for(|made| *made).await.is_ok() {
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
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, id, token, headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        id: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.unless_given_up(self.post(message, Session { id, token, headers }, limits)).await
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        id: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let session = Session { id: Some(id), token, headers };
        let response = self.send(self.request(Method::DELETE, session, Bytes::new())?).await?;
        // A server need not support deletion.
        if response.status().is_success() || response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Ok(());
        }
        Err(unexpected(response.status(), ""))
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        id: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let limit = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, id, last_event, token, headers, limit).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        _: Arc<str>,
        id: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limit: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let session = Session { id, token, headers };
        self.unless_given_up(self.get(session, last_event, limit)).await
    }
}

impl HttpClient {
    /// The sender reports the connection to the client; until then, dropping it ends all requests.
    pub(crate) fn new(http: PlainClient) -> (Self, watch::Sender<bool>) {
        let (made, attempt) = watch::channel(false);
        (HttpClient { http, attempt: Attempt(attempt) }, made)
    }

    /// The transport's task would wait for as long as the server keeps its connection.
    async fn unless_given_up<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let (mut work, mut given_up) = (pin!(work), pin!(self.attempt.clone().given_up()));
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
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let has_session = session.id.is_some();
        let body = Bytes::from(serde_json::to_vec(&message)?);
        let response = self.send(self.request(Method::POST, session, body)?).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return refusal(response, &message, has_session, limits).await;
        }
        self.answer(response, matches!(message, JsonRpcMessage::Request(_)), limits).await
    }

    async fn get(
        &self,
        session: Session,
        last_event: Option<String>,
        limit: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let mut request = self.request(Method::GET, session, Bytes::new())?;
        if let Some(last_event) = last_event {
            request.headers_mut().insert(name(HEADER_LAST_EVENT_ID)?, value(&last_event)?);
        }
        let response = self.send(request).await?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(status_error(status, response.headers())
                .map_or_else(|| unexpected(status, ""), StreamableHttpError::from)),
            _ => match content_type(response.headers()) {
                Some(EVENT_STREAM_MIME_TYPE | JSON_MIME_TYPE) => Ok(self.events(response.into_body(), limit)),
                other => Err(StreamableHttpError::UnexpectedContentType(other.map(str::to_owned))),
            },
        }
    }

    /// Only requests wait for an answer.
    async fn answer(
        &self,
        response: Response<ResponseBody>,
        is_awaited: bool,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let (head, mut body) = response.into_parts();
        let session = head.headers.get(HEADER_SESSION_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
        match content_type(&head.headers) {
            Some(EVENT_STREAM_MIME_TYPE) => {
                Ok(StreamableHttpPostResponse::Sse(self.events(body, limits.max_sse_event_size), session))
            }
            Some(JSON_MIME_TYPE) => {
                let body = read(&mut body, limits.max_json_response_size).await?;
                match serde_json::from_slice(&body) {
                    Ok(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
                    Err(_) if !is_awaited => Ok(StreamableHttpPostResponse::Accepted),
                    Err(error) => {
                        let fault = format!("the answer is no message of JSON-RPC: {error}");
                        Err(StreamableHttpError::UnexpectedServerResponse(fault.into()))
                    }
                }
            }
            _ if !is_awaited => Ok(StreamableHttpPostResponse::Accepted),
            other => Err(StreamableHttpError::UnexpectedContentType(other.map(str::to_owned))),
        }
    }

    fn events(&self, body: ResponseBody, limit: usize) -> BoxStream<'static, Result<Sse, SseError>> {
        events(body, limit, Box::pin(self.attempt.clone().given_up()))
    }

    fn request(&self, method: Method, session: Session, body: Bytes) -> Result<Request<Bytes>, Failure> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = self.http.uri();
        let headers = request.headers_mut();
        headers.extend(session.headers);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON_MIME_TYPE));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
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

    async fn send(&self, request: Request<Bytes>) -> Result<Response<ResponseBody>, Failure> {
        let response = self.http.send(request).await.map_err(StreamableHttpError::Client)?;
        let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        match (response.status(), challenge.map(str::to_owned)) {
            (StatusCode::UNAUTHORIZED, Some(challenge)) => {
                Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)))
            }
            (StatusCode::FORBIDDEN, Some(challenge)) => {
                Err(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)))
            }
            _ => Ok(response),
        }
    }
}

/// An error of JSON-RPC is the answer; of anything else, only the beginning is kept.
async fn refusal(
    response: Response<ResponseBody>,
    message: &ClientJsonRpcMessage,
    has_session: bool,
    limits: StreamableHttpResponseLimits,
) -> Result<StreamableHttpPostResponse, Failure> {
    let (head, mut body) = response.into_parts();
    let status_error = status_error(head.status, &head.headers);
    let is_json = content_type(&head.headers) == Some(JSON_MIME_TYPE);
    let is_auth = matches!(head.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let said = match &status_error {
        Some(_) if !is_json || head.status == StatusCode::TOO_MANY_REQUESTS => Vec::new(),
        _ if is_json && !is_auth => match read(&mut body, limits.max_json_response_size).await {
            Ok(said) => said,
            Err(error) => return Err(status_error.map_or(error, StreamableHttpError::from)),
        },
        _ => begin(&mut body, limits.max_error_response_size).await,
    };
    let error = serde_json::from_slice(&said).ok().and_then(|said| match said {
        ServerJsonRpcMessage::Error(error) if is_json && !is_auth => Some(error),
        _ => None,
    });
    let text = String::from_utf8_lossy(&said[..said.len().min(limits.max_error_response_size)]).into_owned();
    match message {
        // A server of an older protocol refuses what it does not know, with an error that cannot name the id.
        JsonRpcMessage::Request(request)
            if !has_session
                && !is_auth
                && head.status.is_client_error()
                && matches!(request.request, ClientRequest::DiscoverRequest(_)) =>
        {
            let why = format!("server/discover rejected with HTTP {}: {text}", head.status);
            let error = error.map_or_else(|| ErrorData::invalid_request(why, None), |error| error.error);
            let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            Ok(StreamableHttpPostResponse::Json(error, None))
        }
        _ => match error {
            Some(error) => Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), None)),
            None => {
                Err(status_error.map_or_else(|| unexpected(head.status, &text), StreamableHttpError::from))
            }
        },
    }
}

/// The announced length is not trusted: memory grows with what arrives.
async fn read(body: &mut ResponseBody, max_size: usize) -> Result<Vec<u8>, Failure> {
    let too_large = || StreamableHttpError::ResponseBodyTooLarge { max_size };
    if body.length().is_some_and(|length| length > max_size as u64) {
        return Err(too_large());
    }
    let mut read = Vec::new();
    while let Some(bytes) = body.chunk().await.map_err(StreamableHttpError::Client)? {
        if bytes.len() > max_size - read.len() {
            return Err(too_large());
        }
        read.extend_from_slice(&bytes);
    }
    Ok(read)
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
    let given = headers.get(CONTENT_TYPE)?.to_str().ok()?.split(';').next()?.trim();
    let known = [JSON_MIME_TYPE, EVENT_STREAM_MIME_TYPE];
    Some(known.into_iter().find(|known| known.eq_ignore_ascii_case(given)).unwrap_or(given))
}

fn status_error(status: StatusCode, headers: &HeaderMap) -> Option<HttpStatusError> {
    let counts = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    let wait = headers.get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()).map(str::to_owned);
    counts.then(|| HttpStatusError::new(status.as_u16(), wait))
}

fn unexpected(status: StatusCode, text: &str) -> Failure {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!("HTTP {status}: {text}")))
}

fn name(name: &str) -> Result<HeaderName, Failure> {
    name.parse().map_err(|_| StreamableHttpError::ReservedHeaderConflict(name.to_owned()))
}

fn value(text: &str) -> Result<HeaderValue, Failure> {
    let fault = "a header's value has a character that headers cannot have";
    HeaderValue::from_str(text).map_err(|_| StreamableHttpError::UnexpectedServerResponse(fault.into()))
}
