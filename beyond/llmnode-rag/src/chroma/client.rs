//! Requests to the server: each is sent once, and every failure has a category.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, StatusCode};
use llmnode_http::ext::{ClientError, PlainClient};
use llmnode_model::ext::{Secret, redact_secrets};
use llmnode_reader::ext::{has_many_values, small_tree};
use llmnode_reader::text::one_line;
use llmnode_runtime::{Category, NodeError};
use serde_json::Value;
use tokio::time::timeout;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_RESPONSE_BYTES: usize = 64 * 1024 * 1024;
const COLLECTIONS: &str = "/api/v2/tenants/default_tenant/databases/default_database/collections";

pub(super) struct Client {
    http: PlainClient,
    /// Without the query, which may hold a key.
    base: String,
    token: Option<String>,
}

impl Client {
    pub(super) fn new(url: &str, token: Option<&str>) -> Result<Self, NodeError> {
        let url = url.trim();
        let base = url
            .split(['?', '#'])
            .next()
            .unwrap_or_default()
            .trim_end_matches('/');
        if !base.starts_with("http://") && !base.starts_with("https://") {
            let message = format!(
                "{base:?} is no URL: `ChromaStore` takes that of a server, such as http://127.0.0.1:8000 (`chroma run --path ..` starts \
                 one); for a file of llmnode's use `SqliteStore`"
            );
            return Err(NodeError::new(Category::ConfigError, message));
        }
        let http = PlainClient::new(url, token.is_some()).map_err(|fault| {
            NodeError::new(
                Category::ConfigError,
                format!("Chroma's server: {}", fault.message),
            )
        })?;
        Ok(Client {
            http,
            base: base.to_owned(),
            token: token.map(str::to_owned),
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.base
    }

    /// `path` is below the collections.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, NodeError> {
        self.tree(&self.post_raw(path, body).await?)
    }

    /// Returns the response as it was written.
    pub(super) async fn post_raw(&self, path: &str, body: &Value) -> Result<Vec<u8>, NodeError> {
        self.send(Method::POST, path, Some(body)).await
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, NodeError> {
        self.tree(&self.send(Method::GET, path, None).await?)
    }

    fn tree(&self, response: &[u8]) -> Result<Value, NodeError> {
        if has_many_values(response) {
            return Err(self.bad_response("has too many values"));
        }
        serde_json::from_slice(response)
            .map_err(|_| self.bad_response("is no JSON; check that the URL is Chroma's"))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Vec<u8>, NodeError> {
        let request = self.request(method, path, body)?;
        let Ok(received) = timeout(REQUEST_TIMEOUT, self.receive(request)).await else {
            let message = format!(
                "Chroma at {}: no response within {REQUEST_TIMEOUT:?}",
                self.base
            );
            return Err(NodeError::new(Category::Timeout, message));
        };
        let (status, bytes) = received?;
        if !status.is_success() {
            return Err(self.error_response(status.as_u16(), &bytes));
        }
        Ok(bytes)
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<http::Request<Bytes>, NodeError> {
        let uri = self
            .http
            .uri_below(&format!("{COLLECTIONS}{path}"))
            .ok_or_else(|| {
                NodeError::new(
                    Category::ConfigError,
                    format!("{}: no URL of a server", self.base),
                )
            })?;
        let mut request =
            http::Request::new(body.map_or_else(Bytes::new, |body| body.to_string().into()));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        request
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(token) = &self.token {
            let mut value = HeaderValue::from_str(token).map_err(|_| {
                NodeError::new(
                    Category::ApiKeyError,
                    "the token holds a character that headers cannot have",
                )
            })?;
            value.set_sensitive(true);
            request.headers_mut().insert("x-chroma-token", value);
        }
        Ok(request)
    }

    async fn receive(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<(StatusCode, Vec<u8>), NodeError> {
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
                return Err(self.bad_response("is longer than 64 MiB"));
            }
            bytes.extend_from_slice(&more);
        }
        Ok((response.status(), bytes))
    }

    fn no_response(&self, error: &ClientError) -> NodeError {
        let category = if error.is_timeout() {
            Category::Timeout
        } else {
            Category::Network
        };
        let message = format!("Chroma at {}: no response ({})", self.base, error.cause());
        NodeError::new(category, self.clean(&message))
    }

    pub(super) fn bad_response(&self, fault: &str) -> NodeError {
        NodeError::new(
            Category::BadResponse,
            format!("Chroma at {}: the response {fault}", self.base),
        )
    }

    /// The server's error, with its words. They are shortened, and never have the token in them.
    fn error_response(&self, status: u16, body: &[u8]) -> NodeError {
        let body = small_tree(body).unwrap_or_default();
        let category = match status {
            401 | 403 => Category::ApiKeyError,
            404 | 405 => Category::NotFound,
            408 | 504 => Category::Timeout,
            429 => Category::RateLimitError,
            500.. => Category::ServerError,
            _ => Category::BadRequest,
        };
        let kind = body["error"].as_str().unwrap_or_default();
        let message = body["message"].as_str().unwrap_or_default();
        let clean = self.clean(&format!("{kind} {message}"));
        let words = one_line(clean.trim(), 400);
        NodeError::new(
            category,
            format!("Chroma at {} answered {status}: {words}", self.base),
        )
    }

    fn clean(&self, text: &str) -> String {
        let token = self.token.as_deref().map(Secret::new);
        redact_secrets(text.to_owned(), token.as_slice())
    }
}
