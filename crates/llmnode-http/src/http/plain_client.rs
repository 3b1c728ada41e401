//! A client for servers other than models.
//!
//! For stores of documents and servers of tools, which need connections, proxies
//! and certificates, and none of what a model's client learns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use llmnode_model::ext::Secret;
use llmnode_model::{Category, ModelError};

use super::body::{RequestBody, ResponseBody};
use super::classify::classify;
use super::client::Client;
use super::client_error::ClientError;
use super::connector::ConnectSettings;
use super::error_body::ErrorBody;
use super::proxy::Proxy;
use super::tls;
use super::url::Url;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends requests to one server. It follows no redirect and sends nothing twice.
#[derive(Clone)]
pub struct PlainClient {
    client: Client,
    url: Url,
}

fn config_fault(message: String) -> ModelError {
    ModelError::unsent(Category::ConfigError, message)
}

impl PlainClient {
    /// With `secret`, or with a credential in the URL's query, a secret is sent,
    /// which leaves this machine by https only.
    ///
    /// # Errors
    /// If the URL is not for HTTP, has a password, or is not safe for a secret; if
    /// TLS is not possible.
    pub fn new(url: &str, secret: bool) -> Result<Self, ModelError> {
        let example = "write it like https://mcp.example/mcp";
        let url =
            Url::parse(url).map_err(|why| config_fault(format!("the URL {why}; {example}")))?;
        let secret = secret || url.credentials().next().is_some();
        if secret && !url.is_https() && !url.is_loopback() {
            return Err(config_fault(
                "a token is sent by https only, except to this machine".to_owned(),
            ));
        }
        let proxy = if url.is_loopback() {
            None
        } else {
            Proxy::of_environment(&url).map_err(config_fault)?
        };
        let needs_tls = url.is_https() || proxy.as_ref().is_some_and(|proxy| proxy.is_https);
        let tls = if needs_tls {
            tls::trusting_system(Vec::new())
        } else {
            tls::trusting_nobody()
        };
        let tls = tls.map_err(|error| config_fault(format!("https is not possible: {error}")))?;
        let settings = ConnectSettings {
            tls,
            proxy,
            timeout: CONNECT_TIMEOUT,
            public_only: false,
        };
        Ok(PlainClient {
            client: Client::new(settings, url.is_https()),
            url,
        })
    }

    /// Keys in the query of a URL, which the server may repeat in what it says.
    pub fn credentials(url: &str) -> Vec<Secret> {
        Url::parse(url).map_or_else(|_| Vec::new(), |url| url.credentials().collect())
    }

    /// The URL, normalised.
    pub fn uri(&self) -> http::Uri {
        self.url.to_uri()
    }

    /// The URL of another path of the server. `path` follows the path of the server's own URL.
    pub fn uri_below(&self, path: &str) -> Option<http::Uri> {
        let base = self.url.path().trim_end_matches('/');
        let url = &self.url;
        Url::parse(&format!(
            "{}://{}{base}{path}",
            url.scheme(),
            url.authority()
        ))
        .ok()
        .map(|url| url.to_uri())
    }

    /// Sends a request once.
    ///
    /// # Errors
    /// If there is no response.
    pub async fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<ResponseBody>, ClientError> {
        let begun = Arc::<AtomicBool>::default();
        let has_body = !request.body().is_empty();
        let sent = self
            .client
            .send(request.map(|body| RequestBody::new(body, Arc::clone(&begun))))
            .await;
        let is_unsent = has_body && !begun.load(Ordering::Relaxed);
        sent.map_err(|error| if is_unsent { error.unsent() } else { error })
    }

    /// The category of a response with this status, without regard to what else it says.
    pub fn category(status: u16) -> Category {
        classify(status, &ErrorBody::read(b""))
    }
}
