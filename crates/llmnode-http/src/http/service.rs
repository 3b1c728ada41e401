//! One request over HTTP: sent once, read up to a cap, with a distinct error for every failure.
//!
//! Failures are told apart by what may have happened at the server, since that
//! decides whether the request may be repeated: *unreached* (nothing was sent: it
//! can be repeated), *begun* (it may have been processed), *broken off* (it has
//! been). So a request's body notes when it is first read, which is when there is a
//! connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use http::header::{HeaderMap, HeaderValue, SERVER};
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use llmnode_model::{AttemptId, Category, ModelError, Retry, Sink};
use tokio::time::{Instant, timeout_at};

use super::address_guard::PrivateAddress;
use super::body::RequestBody;
use super::client::{Client, FinalUrl, Request, Response};
use super::client_error::ClientError;
use super::endpoint::{Endpoint, shown};
use super::url::Url;

pub(crate) const PROXY_CREDENTIALS: &str = "; the proxy asks for a user name and a password: write \
     them into its URL, as in http://user:password@proxy.example:3128";

/// What a handle has of one server.
pub(crate) struct Service {
    pub(crate) client: Client,
    pub(crate) endpoint: Endpoint,
    /// Neither the endpoint nor the proxy is another machine.
    pub(crate) is_local: bool,
    pub(crate) client_request_id: bool,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) attempt_timeout: Duration,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) thinking_timeout: Duration,
    pub(crate) body_cap: usize,
}

/// One request, ready to be sent.
pub(crate) struct Outgoing<'u> {
    pub(crate) url: &'u Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) id: Option<AttemptId>,
    pub(crate) streams: bool,
}

/// When an attempt ends, and how long it was allowed to take, for the message.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    end: Instant,
    timeout: Duration,
}

impl Deadline {
    pub(super) fn end(self) -> Instant {
        self.end
    }
}

impl Service {
    /// The attempt's own timeout, or the handle's.
    pub(crate) fn deadline(&self, timeout: Option<Duration>) -> Deadline {
        // The clock cannot represent longer timeouts.
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
        let now = Instant::now();
        let timeout = timeout.unwrap_or(self.attempt_timeout);
        Deadline {
            end: now.checked_add(timeout.min(CENTURY)).unwrap_or(now),
            timeout,
        }
    }

    /// Sends a request once, and waits for the head of its response.
    ///
    /// Whether the request has begun is read after the response was waited for, and
    /// not before: the body notes it when it is first read. Until then, a failure or
    /// a drop is one of a request that was not sent, and costs nothing
    /// ([`UnsentGuard`]).
    ///
    /// Not an `async fn`, whose future would store each argument until it ends.
    pub(crate) fn send(
        &self,
        outgoing: Outgoing<'_>,
        deadline: Deadline,
        sink: &mut dyn Sink,
    ) -> impl Future<Output = Result<Response, ModelError>> {
        let sending = UnsentGuard {
            sink,
            begun: Arc::default(),
        };
        let streams = outgoing.streams;
        let mut request = self.request(outgoing, &sending.begun);
        let connection = streams.then(|| capture_connection(&mut request));
        let response = timeout_at(deadline.end, self.client.send(request));
        async move {
            match response.await {
                // A server may answer before it reads the body.
                Ok(Ok(response)) => {
                    sending.begun.store(true, Ordering::Relaxed);
                    if let Some(connection) = connection {
                        close_after_stream(&response, &connection);
                    }
                    Ok(response)
                }
                Ok(Err(error)) => Err(self.send_failure(&error, sending.has_begun())),
                Err(_) if !sending.has_begun() => {
                    let host = self.endpoint.host();
                    let timeout = deadline.timeout;
                    let message =
                        format!("{host}: no connection within {timeout:?} (attempt timeout)");
                    Err(ModelError::unreached(Category::Timeout, message))
                }
                Err(_) => Err(self.timed_out("no response began", deadline)),
            }
        }
    }

    /// `x-client-request-id` makes it possible to ask a provider about a request
    /// whose answer was lost.
    fn request(&self, outgoing: Outgoing<'_>, begun: &Arc<AtomicBool>) -> Request {
        let Outgoing {
            url,
            headers,
            body,
            id,
            ..
        } = outgoing;
        let body = RequestBody::new(body.into(), Arc::clone(begun));
        let mut request = Request::new(body);
        *request.method_mut() = Method::POST;
        *request.uri_mut() = url.to_uri();
        *request.headers_mut() = headers;
        if let Some(id) = id.filter(|_| self.client_request_id)
            && let Ok(id) = HeaderValue::try_from(id.to_string())
        {
            // A header that the program sets stays.
            request
                .headers_mut()
                .entry("x-client-request-id")
                .or_insert(id);
        }
        request
    }

    /// Only on the same server, which has the key already.
    pub(crate) fn redirect_target(
        &self,
        from: &Url,
        response: &Response,
    ) -> Option<Result<Url, ModelError>> {
        if let Some(elsewhere) = self.followed_elsewhere(response) {
            return Some(Err(elsewhere));
        }
        let status = response.status();
        if !status.is_redirection() {
            return None;
        }
        let location = response.headers().get("location")?.to_str().ok()?;
        let target = from.resolve(location)?;
        let repeats_the_request = matches!(status.as_u16(), 301 | 302 | 307 | 308);
        if target.is_same_origin(&self.endpoint.url) && repeats_the_request {
            return Some(Ok(target));
        }
        let message = format!(
            "{} redirects to {}; the request was not repeated there, so the key stays here. If \
             that server is meant, make it the base URL",
            self.endpoint.shown,
            shown(&target),
        );
        Some(Err(ModelError::new(Category::BadRequest, message)))
    }

    /// A custom client may have sent unknown key headers to another server.
    pub(crate) fn followed_elsewhere(&self, response: &Response) -> Option<ModelError> {
        let FinalUrl(url) = response.extensions().get()?;
        let target = match Url::parse(url) {
            Ok(target) if target.is_same_origin(&self.endpoint.url) => return None,
            Ok(target) => shown(&target),
            Err(_) => "another server".to_owned(),
        };
        let message = format!(
            "{}: the client of `http_client` followed a redirect to {target}, perhaps with the \
             key; make the client with redirects switched off",
            self.endpoint.shown,
        );
        Some(ModelError::new(Category::BadRequest, message))
    }

    /// Three messages follow that differ in what a person can do about them.
    pub(super) fn idle(&self, idle: Duration, read: usize) -> ModelError {
        let message = format!(
            "{}: the stream stood at {read} bytes, and nothing of the answer came within {idle:?} \
             (idle timeout; the request may have been processed)",
            self.endpoint.shown
        );
        ModelError::new(Category::Timeout, message)
    }

    pub(super) fn thinks_too_long(&self, thinking: Duration, read: usize) -> ModelError {
        let message = format!(
            "{}: the stream stood at {read} bytes, and neither text nor arguments came within \
             {thinking:?}, although events did (thinking timeout; raise `thinking_timeout` for a \
             model that thinks for longer)",
            self.endpoint.shown
        );
        ModelError::new(Category::Timeout, message)
    }

    pub(super) fn timed_out(&self, state: &str, Deadline { timeout, .. }: Deadline) -> ModelError {
        let shown = &self.endpoint.shown;
        let message = format!(
            "{shown}: {state} within {timeout:?} (attempt timeout; the request may have been \
             processed)"
        );
        ModelError::new(Category::Timeout, message)
    }

    /// Another attempt would be as long.
    pub(crate) fn over_cap(&self) -> ModelError {
        let message = format!(
            "{}: the response is longer than {} bytes (body cap)",
            self.endpoint.shown, self.body_cap
        );
        ModelError::new(Category::BadResponse, message).retry(Retry::No)
    }

    /// In order: what may have been processed, then why there is no connection.
    ///
    /// Of those without a connection, three are not tried again, since the next try
    /// would end the same way: a private address that is refused, a certificate that
    /// is not trusted, and a proxy that wants a password. Each says what to change.
    pub(crate) fn send_failure(&self, error: &ClientError, begun: bool) -> ModelError {
        let Service {
            endpoint,
            connect_timeout,
            ..
        } = self;
        let host = endpoint.host();
        let cause = error.cause();
        // Also without a connection after it: a custom client may have followed a redirect.
        if begun {
            let category = if error.is_timeout() {
                Category::Timeout
            } else {
                Category::Network
            };
            let message = format!(
                "{}: no response ({cause}; the request may have been processed)",
                endpoint.shown
            );
            return ModelError::new(category, message);
        }
        if error.is_timeout() {
            let within = connect_timeout.map_or("in time".to_owned(), |timeout| {
                format!("within {timeout:?}")
            });
            ModelError::unreached(
                Category::Timeout,
                format!("{host}: no connection {within} (connect timeout)"),
            )
        } else if let Some(private) = error
            .causes()
            .find_map(|error| error.downcast_ref::<PrivateAddress>())
        {
            let message = format!("{private}; it is refused by `public_only`");
            ModelError::unreached(Category::ConfigError, message).retry(Retry::No)
        } else if bad_certificate(error) {
            let message = format!(
                "{host}: the server's certificate is not trusted ({cause}); add its authority as a \
                 root certificate if you trust it"
            );
            ModelError::unreached(Category::Network, message).retry(Retry::No)
        } else if error
            .causes()
            .any(|error| error.to_string().contains("proxy authorization required"))
        {
            let message = format!("{host}: no connection ({cause}){PROXY_CREDENTIALS}");
            ModelError::unreached(Category::ConfigError, message).retry(Retry::No)
        } else {
            ModelError::unreached(
                Category::Network,
                format!("{host}: no connection ({cause})"),
            )
        }
    }

    /// The body broke off: the request was processed, and its answer is half.
    pub(super) fn read_failure(
        &self,
        error: &ClientError,
        read: usize,
        expected: Option<u64>,
    ) -> ModelError {
        let category = if error.is_timeout() {
            Category::Timeout
        } else {
            Category::Network
        };
        let of = expected.map_or_else(String::new, |expected| format!(" of {expected}"));
        let message = format!(
            "{}: the response broke off after {read}{of} bytes ({})",
            self.endpoint.shown,
            error.cause()
        );
        ModelError::new(category, message)
    }
}

/// llama.cpp closes the connection after each stream despite `Keep-Alive:
/// timeout=5, max=100`: a request sent just then is lost, and may have been
/// processed.
fn close_after_stream(response: &Response, connection: &CaptureConnection) {
    let is_llama = response
        .headers()
        .get(SERVER)
        .is_some_and(|server| server.as_bytes().starts_with(b"llama.cpp"));
    if let Some(connection) = connection
        .connection_metadata()
        .as_ref()
        .filter(|_| is_llama)
    {
        connection.poison();
    }
}

/// Reports to the sink if it is dropped before the request has a connection.
struct UnsentGuard<'s> {
    sink: &'s mut dyn Sink,
    begun: Arc<AtomicBool>,
}

impl UnsentGuard<'_> {
    fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed)
    }
}

impl Drop for UnsentGuard<'_> {
    fn drop(&mut self) {
        if !self.has_begun() {
            self.sink.unsent();
        }
    }
}

/// Certificates do not become trusted by trying again.
fn bad_certificate(error: &ClientError) -> bool {
    error.causes().any(|error| {
        matches!(
            error.downcast_ref::<rustls::Error>(),
            Some(rustls::Error::InvalidCertificate(_))
        )
    })
}
