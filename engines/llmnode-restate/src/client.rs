//! Starts runs and talks to them, over Restate's ingress.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request};
use llmnode::{Category, NodeError};
use llmnode_http::ext::{ClientError, PlainClient};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::wire::{Decision, Outcome, SERVICE, Settled, Status, bad_name};

const MAX_RESPONSE_BYTES: usize = 64 * 1024 * 1024;
/// How long a worker has for what takes milliseconds.
const ANSWER: Duration = Duration::from_secs(10);

/// Starts runs of flows and talks to them, over the ingress of Restate.
///
/// Errors have a category: `not_found` for what is not there, `bad_request` for
/// what is refused (a decision on something that does not wait), `network` and
/// `timeout` for a server that does not answer, `config_error` for names and URLs.
#[derive(Clone)]
pub struct Client {
    http: PlainClient,
    url: String,
    token: Option<HeaderValue>,
}

/// When a decision takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Taken {
    /// A worker has taken it.
    Now,
    /// No worker answered within ten seconds. Restate keeps the decision for the
    /// next worker, which takes it if it still fits.
    Later,
}

impl Client {
    /// Creates a client of the ingress at this URL, `http://127.0.0.1:8080` by default.
    ///
    /// # Errors
    /// A `config_error`: it is no URL of a server.
    pub fn new(url: &str) -> Result<Self, NodeError> {
        Client::create(url, None)
    }

    /// Creates a client that sends a token to the proxy before the ingress, as
    /// `Authorization: Bearer`, by https or to this machine.
    ///
    /// # Errors
    /// A `config_error`: it is no URL of a server, or the token cannot be sent.
    pub fn with_token(url: &str, token: &str) -> Result<Self, NodeError> {
        let mut value = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| {
            NodeError::new(
                Category::ConfigError,
                "the token holds a character that headers cannot have",
            )
        })?;
        value.set_sensitive(true);
        Client::create(url, Some(value))
    }

    fn create(url: &str, token: Option<HeaderValue>) -> Result<Self, NodeError> {
        let url = url.trim().trim_end_matches('/');
        let http = PlainClient::new(url, token.is_some()).map_err(|fault| {
            NodeError::new(
                Category::ConfigError,
                format!("Restate's ingress: {}", fault.message),
            )
        })?;
        Ok(Client {
            http,
            url: url.to_owned(),
            token,
        })
    }

    /// Starts a run of a flow. With an id that there is already, nothing starts,
    /// whatever the input: returns `false`.
    ///
    /// Ids and names of flows are up to 64 letters, digits, `-` and `_`.
    ///
    /// # Errors
    /// See [`Client`]. After a `network` error or a `timeout`, start it again with the same id.
    pub async fn start(
        &self,
        flow: &str,
        id: &str,
        input: &impl Serialize,
    ) -> Result<bool, NodeError> {
        let input = serde_json::to_value(input).map_err(|error| {
            NodeError::new(Category::ConfigError, format!("the input: {error}"))
        })?;
        let path = format!("/{SERVICE}/{}/run/send", key(flow, id)?);
        let sent: Option<Sent> =
            self.read(&self.within(Method::POST, &path, Some(&input)).await?)?;
        let status = sent.and_then(|sent| sent.status);
        Ok(status.as_deref() != Some("PreviouslyAccepted"))
    }

    /// Returns how a run is doing. A worker has to be there.
    ///
    /// # Errors
    /// See [`Client`]. `not_found` also for a run that has not begun, or that ended longer ago than
    /// [`Worker::retention`](crate::Worker::retention) says.
    pub async fn status(&self, flow: &str, id: &str) -> Result<Status, NodeError> {
        let path = format!("/{SERVICE}/{}/status", key(flow, id)?);
        self.read(&self.within(Method::POST, &path, None).await?)
    }

    /// Decides the calls that a run waits with.
    ///
    /// # Errors
    /// See [`Client`]. `bad_request`: the run does not wait, or waits with other
    /// calls; nothing has changed.
    pub async fn decide(
        &self,
        flow: &str,
        id: &str,
        decision: &Decision,
    ) -> Result<Taken, NodeError> {
        self.send("decide", key(flow, id)?, &json!(decision)).await
    }

    /// Executes the node that is [in doubt](Status::in_doubt) again. `status` is
    /// the one that was shown.
    ///
    /// # Errors
    /// As [`decide`](Client::decide).
    pub async fn rerun(&self, flow: &str, id: &str, status: &Status) -> Result<Taken, NodeError> {
        self.send(
            "rerun",
            key(flow, id)?,
            &json!(Settled {
                wait: status.wait,
                output: None
            }),
        )
        .await
    }

    /// Continues with the output of the node that is [in doubt](Status::in_doubt):
    /// it did take effect. The worker has to [settle](crate::Worker::settles) the
    /// node.
    ///
    /// # Errors
    /// As [`decide`](Client::decide).
    pub async fn happened(
        &self,
        flow: &str,
        id: &str,
        status: &Status,
        output: &impl Serialize,
    ) -> Result<Taken, NodeError> {
        let output = serde_json::to_value(output).map_err(|error| {
            NodeError::new(Category::ConfigError, format!("the output: {error}"))
        })?;
        self.send(
            "happened",
            key(flow, id)?,
            &json!(Settled {
                wait: status.wait,
                output: Some(output)
            }),
        )
        .await
    }

    /// Cancels a run: its flow is dropped. [`result`](Client::result) is a `cancelled` error then.
    ///
    /// # Errors
    /// As [`decide`](Client::decide).
    pub async fn cancel(&self, flow: &str, id: &str) -> Result<Taken, NodeError> {
        let path = format!("/{SERVICE}/{}/cancel", key(flow, id)?);
        self.taken(self.within(Method::POST, &path, None).await)
    }

    /// Waits for the end of a run, and returns what came of it.
    ///
    /// # Errors
    /// The error of the flow, with its category and message; those of [`Client`].
    /// After a `network` error, ask again.
    pub async fn result<S, A>(&self, flow: &str, id: &str) -> Result<Outcome<S, A>, NodeError>
    where
        S: DeserializeOwned,
        A: DeserializeOwned,
    {
        let path = format!("/restate/workflow/{SERVICE}/{}/attach", key(flow, id)?);
        self.read(&self.ask(Method::GET, &path, None).await?)
    }

    async fn send(&self, handler: &str, key: String, body: &Value) -> Result<Taken, NodeError> {
        self.taken(
            self.within(
                Method::POST,
                &format!("/{SERVICE}/{key}/{handler}"),
                Some(body),
            )
            .await,
        )
    }

    /// What it answers says nothing; but a page of a proxy says that no worker has it.
    fn taken(&self, answer: Result<Vec<u8>, NodeError>) -> Result<Taken, NodeError> {
        match answer {
            Ok(body) => self.read::<IgnoredAny>(&body).map(|_| Taken::Now),
            // The server has it: it answers connections at once.
            Err(error) if error.category() == Category::Timeout => Ok(Taken::Later),
            Err(error) => Err(error),
        }
    }

    /// Into the type that is asked for: a tree of what a server wrote could fill the memory.
    fn read<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, NodeError> {
        let body = if body.is_empty() {
            b"null".as_slice()
        } else {
            body
        };
        serde_json::from_slice(body).map_err(|error| self.bad_response(&error.to_string()))
    }

    async fn within(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Vec<u8>, NodeError> {
        let answer = tokio::time::timeout(ANSWER, self.ask(method, path, body)).await;
        answer.map_err(|_| {
            let message = format!(
                "{}: no answer within {ANSWER:?}; is a worker there, and registered?",
                self.url
            );
            NodeError::new(Category::Timeout, message)
        })?
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Vec<u8>, NodeError> {
        let request = self.request(method, path, body)?;
        let mut response = self
            .http
            .send(request)
            .await
            .map_err(|error| self.no_response(&error))?;
        let mut bytes = Vec::new();
        while let Some(more) = response
            .body_mut()
            .chunk()
            .await
            .map_err(|error| self.no_response(&error))?
        {
            if bytes.len() + more.len() > MAX_RESPONSE_BYTES {
                return Err(self.bad_response("it is longer than 64 MiB"));
            }
            bytes.extend_from_slice(&more);
        }
        if !response.status().is_success() {
            return Err(self.refused(response.status().as_u16(), &bytes));
        }
        Ok(bytes)
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Request<Bytes>, NodeError> {
        let uri = self.http.uri_below(path).ok_or_else(|| {
            NodeError::new(
                Category::ConfigError,
                format!("{}: no URL of a server", self.url),
            )
        })?;
        let mut request =
            Request::new(body.map_or_else(Bytes::new, |body| body.to_string().into()));
        (*request.method_mut(), *request.uri_mut()) = (method, uri);
        if body.is_some() {
            request
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(token) = &self.token {
            request.headers_mut().insert(AUTHORIZATION, token.clone());
        }
        Ok(request)
    }

    fn no_response(&self, error: &ClientError) -> NodeError {
        let category = if error.is_timeout() {
            Category::Timeout
        } else {
            Category::Network
        };
        NodeError::new(
            category,
            format!("Restate at {}: no response ({})", self.url, error.cause()),
        )
    }

    fn bad_response(&self, fault: &str) -> NodeError {
        NodeError::new(
            Category::BadResponse,
            format!("Restate at {}: the response: {fault}", self.url),
        )
    }

    fn refused(&self, status: u16, body: &[u8]) -> NodeError {
        let refusal: Refusal = serde_json::from_slice(body).unwrap_or_default();
        let message = refusal.message.as_deref().unwrap_or("no message");
        // A flow's failure begins with its category.
        if let Some((category, rest)) = message.split_once(": ")
            && let Some(category) = Category::from_name(category)
        {
            return NodeError::new(category, rest);
        }
        let category = match status {
            401 | 403 => Category::ApiKeyError,
            404 => Category::NotFound,
            409 if message == "cancelled" => Category::Cancelled,
            408 | 504 => Category::Timeout,
            429 => Category::RateLimitError,
            500.. => Category::ServerError,
            _ => Category::BadRequest,
        };
        NodeError::new(category, format!("Restate answered {status}: {message}"))
    }
}

/// The ingress's answer to a start.
#[derive(Deserialize)]
struct Sent {
    status: Option<String>,
}

/// The words of an answer that is no success.
#[derive(Default, Deserialize)]
struct Refusal {
    message: Option<String>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("url", &self.http.uri().authority().map(ToString::to_string))
            .finish_non_exhaustive()
    }
}

fn key(flow: &str, id: &str) -> Result<String, NodeError> {
    match bad_name(flow).or_else(|| bad_name(id)) {
        None => Ok(format!("{flow}:{id}")),
        Some(fault) => Err(NodeError::new(Category::ConfigError, fault)),
    }
}
