//! How an [`OpenAi`] is set up.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use rustls::pki_types::CertificateDer;

use super::endpoint::Endpoint;
use super::learned::Learned;
use super::secret::Secret;
use super::service::Service;
use super::{Inner, OpenAi, tls};
use crate::category::Category;
use crate::error::NodeError;

const KEY: &str = "OPENAI_API_KEY";
const BASE_URL: &str = "OPENAI_BASE_URL";
const MODEL: &str = "OPENAI_MODEL";
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Headers that carry a key.
const CREDENTIALS: [&str; 3] = ["authorization", "api-key", "x-api-key"];

/// Sets up an [`OpenAi`]. Every setting has a default; [`build`](OpenAiBuilder::build) checks them together.
///
/// ```
/// use std::time::Duration;
/// use llmnode_runtime::OpenAi;
///
/// let model = OpenAi::builder()
///     .base_url("http://127.0.0.1:8080/v1") // a loopback server needs no key
///     .model("local")
///     .attempt_timeout(Duration::from_secs(30))
///     .build()?;
/// # Ok::<(), llmnode_runtime::NodeError>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `build`"]
pub struct OpenAiBuilder {
    base_url: Option<Given<String>>,
    key: Option<Given<Secret>>,
    without_key: bool,
    model: Option<String>,
    headers: Vec<(String, Secret)>,
    connect_timeout: Duration,
    attempt_timeout: Duration,
    body_cap: usize,
    proxy: Option<Secret>,
    root_certificates: Vec<Vec<u8>>,
    allow_plain_http: bool,
    http_client: Option<reqwest::Client>,
}

/// A setting, and where it comes from.
#[derive(Clone)]
struct Given<T> {
    value: T,
    source: &'static str,
}

impl Default for OpenAiBuilder {
    fn default() -> Self {
        OpenAiBuilder {
            base_url: None,
            key: None,
            without_key: false,
            model: None,
            headers: Vec::new(),
            connect_timeout: Duration::from_secs(5),
            attempt_timeout: Duration::from_secs(600),
            body_cap: 8 * 1024 * 1024,
            proxy: None,
            root_certificates: Vec::new(),
            allow_plain_http: false,
            http_client: None,
        }
    }
}

impl OpenAiBuilder {
    /// Takes `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL` from the environment; an empty variable is
    /// an absent one. What is set on the builder afterwards replaces them.
    ///
    /// # Errors
    /// `api_key_error` that names both variables, if there is neither key nor base URL; `config_error` for a
    /// variable that is not Unicode.
    pub fn from_env() -> Result<Self, NodeError> {
        Self::from_variables(|name| std::env::var_os(name).map(|value| value.into_string().map_err(|_| ())))
    }

    /// [`from_env`](Self::from_env) with any source of variables.
    fn from_variables(variable: impl Fn(&str) -> Option<Result<String, ()>>) -> Result<Self, NodeError> {
        let read = |name| match variable(name) {
            Some(Err(())) => {
                Err(NodeError::new(Category::ConfigError, format!("{name} is not Unicode text")))
            }
            Some(Ok(value)) => Ok(Some(value).filter(|value| !value.is_empty())),
            None => Ok(None),
        };
        let mut builder = OpenAiBuilder { model: read(MODEL)?, ..OpenAiBuilder::default() };
        builder.base_url = read(BASE_URL)?.map(|value| Given { value, source: BASE_URL });
        builder.key = read(KEY)?.map(|value| Given { value: Secret::new(value), source: KEY });
        if builder.key.is_none() && builder.base_url.is_none() {
            let message = format!(
                "neither {KEY} nor {BASE_URL} is set: set {KEY} to a key of OpenAI, or {BASE_URL} to the base URL \
                 of a compatible server, such as http://127.0.0.1:8080/v1"
            );
            return Err(NodeError::new(Category::ApiKeyError, message));
        }
        Ok(builder)
    }

    /// Sets the base URL, such as `http://127.0.0.1:8080/v1`. Default `https://api.openai.com/v1`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(Given { value: url.into(), source: "`base_url`" });
        self
    }

    /// Sets the key. Loopback servers need none.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(Given { value: Secret::new(key), source: "`api_key`" });
        self
    }

    /// Sends no key, to a server elsewhere that asks for none.
    pub fn without_key(mut self) -> Self {
        self.key = None;
        self.without_key = true;
        self
    }

    /// Sets the model for calls that name none. No default.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the organization that requests are counted for.
    pub fn organization(self, id: impl Into<String>) -> Self {
        self.header("openai-organization", id)
    }

    /// Sets the project that requests are counted for.
    pub fn project(self, id: impl Into<String>) -> Self {
        self.header("openai-project", id)
    }

    /// Adds a header to every request; a second value for a name replaces the first. Values are treated as
    /// secrets: no message or `Debug` form shows them.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    /// Sets how long connecting may take, name resolution and TLS included. Default 5 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long one attempt may take, from connecting to the last byte of the answer. Default 600 s.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = timeout;
        self
    }

    /// Sets the most bytes that a response body may have; a longer one is a `bad_response`. Default 8 MiB.
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.body_cap = bytes;
        self
    }

    /// Sets an HTTP proxy for all requests, such as `http://proxy.example:3128`; a user name and password in
    /// it are sent to the proxy. By default the environment's `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` hold,
    /// except for loopback servers.
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = Some(Secret::new(url));
        self
    }

    /// Trusts the certificates of this PEM text, beside those that the system trusts.
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates.push(pem.into());
        self
    }

    /// Allows to send a key over plain http to another machine, where anyone on the way can read it.
    pub fn allow_plain_http(mut self) -> Self {
        self.allow_plain_http = true;
        self
    }

    /// Sends requests through this client (feature `http-client`). Its own connect timeout, proxies, certificates
    /// and redirects hold instead of the builder's, and its own timeouts beside the attempt timeout; switch its
    /// redirects and retries off, since the attempt loop can neither see nor account for them.
    #[cfg(feature = "http-client")]
    pub fn http_client(mut self, client: reqwest::Client) -> Self {
        self.http_client = Some(client);
        self
    }

    /// Checks the settings and makes the model. Connections are made by the first requests.
    ///
    /// # Errors
    /// `api_key_error` for a key that is missing or malformed, named by where it comes from and never shown;
    /// `config_error` for any other setting that cannot be.
    pub fn build(self) -> Result<OpenAi, NodeError> {
        let endpoint = match &self.base_url {
            Some(base) => Endpoint::new(&base.value, base.source)?,
            None => Endpoint::new(DEFAULT_BASE_URL, "the default")?,
        };
        let headers = self.request_headers()?;
        self.check_key(&endpoint, &headers)?;
        self.check_limits()?;
        let (client, connect_timeout) = match &self.http_client {
            Some(client) => (client.clone(), None),
            None => (self.client(&endpoint)?, Some(self.connect_timeout)),
        };
        let service = Service {
            client,
            endpoint,
            headers,
            connect_timeout,
            attempt_timeout: self.attempt_timeout,
            body_cap: self.body_cap,
        };
        let key_source = self.key.as_ref().map_or(KEY, |key| key.source);
        let secrets = self.secrets();
        Ok(OpenAi(Arc::new(Inner {
            service,
            model: self.model,
            key_source,
            secrets,
            learned: Learned::default(),
        })))
    }

    /// Everything that no message may show.
    fn secrets(&self) -> Vec<Secret> {
        let proxy = self.proxy.as_ref().and_then(|url| Url::parse(url.reveal()).ok());
        let password = proxy.as_ref().and_then(Url::password).map(Secret::new);
        let key = self.key.iter().map(|key| key.value.clone());
        key.chain(self.headers.iter().map(|(_, value)| value.clone())).chain(password).collect()
    }

    fn request_headers(&self) -> Result<HeaderMap, NodeError> {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("accept", HeaderValue::from_static("application/json"));
        headers
            .insert("user-agent", HeaderValue::from_static(concat!("llmnode/", env!("CARGO_PKG_VERSION"))));
        if let Some(key) = &self.key {
            headers.insert("authorization", bearer(key)?);
        }
        for (name, value) in &self.headers {
            let fault = |part| {
                let message =
                    format!("the {part} of the header {name:?} holds a character that headers cannot have");
                NodeError::new(Category::ConfigError, message)
            };
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| fault("name"))?;
            let mut value = HeaderValue::from_str(value.reveal()).map_err(|_| fault("value"))?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(headers)
    }

    fn check_key(&self, endpoint: &Endpoint, headers: &HeaderMap) -> Result<(), NodeError> {
        let has_key = CREDENTIALS.iter().any(|name| headers.contains_key(*name));
        if endpoint.is_loopback() || (!has_key && self.without_key) {
            return Ok(());
        }
        if !has_key {
            let message = format!(
                "{} needs a key: set {KEY}, or say `without_key()` if the server asks for none",
                endpoint.host()
            );
            return Err(NodeError::new(Category::ApiKeyError, message));
        }
        if !endpoint.is_https() && !self.allow_plain_http {
            let message = format!(
                "{} is plain http on another machine, where anyone on the way can read the key: use https, or say \
                 `allow_plain_http()`",
                endpoint.shown
            );
            return Err(NodeError::new(Category::ConfigError, message));
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), NodeError> {
        let zeros = [
            ("connect_timeout", self.connect_timeout.is_zero()),
            ("attempt_timeout", self.attempt_timeout.is_zero()),
            ("max_body_bytes", self.body_cap == 0),
        ];
        match zeros.iter().find(|(_, is_zero)| *is_zero) {
            Some((name, _)) => Err(NodeError::new(
                Category::ConfigError,
                format!("`{name}` is zero; no request could succeed"),
            )),
            None => Ok(()),
        }
    }

    fn client(&self, endpoint: &Endpoint) -> Result<reqwest::Client, NodeError> {
        let fault = |fault: String| NodeError::new(Category::ConfigError, fault);
        let mut builder = reqwest::Client::builder()
            .connect_timeout(self.connect_timeout)
            // Redirects are the service's: it names the target, and keeps the key.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .tls_backend_preconfigured(self.tls(endpoint.is_https() || self.proxy.is_some())?);
        if let Some(url) = &self.proxy {
            let is_http = Url::parse(url.reveal()).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
            let proxy = reqwest::Proxy::all(url.reveal()).ok().filter(|_| is_http);
            let proxy = proxy.ok_or_else(|| {
                fault("the proxy's URL cannot be read; write it like http://proxy.example:3128".to_owned())
            })?;
            builder = builder.no_proxy().proxy(proxy);
        } else if endpoint.is_loopback() {
            builder = builder.no_proxy();
        }
        builder
            .build()
            .map_err(|error| fault(format!("the HTTP client cannot be made: {}", error.without_url())))
    }

    fn tls(&self, needed: bool) -> Result<rustls::ClientConfig, NodeError> {
        let fault = |fault: String| NodeError::new(Category::ConfigError, fault);
        let mut extra: Vec<CertificateDer<'static>> = Vec::new();
        for pem in &self.root_certificates {
            let found = tls::certificates(pem)
                .map_err(|why| fault(format!("the PEM text of `root_certificates` cannot be used: {why}")))?;
            extra.extend(found);
        }
        let config = if needed { tls::trusting_system(extra) } else { tls::trusting_nobody() };
        config.map_err(|error| {
            fault(format!(
                "no https is possible: {error}. Install the system's certificates (the package is usually called \
                 ca-certificates), or hand in `root_certificates`"
            ))
        })
    }
}

fn bearer(key: &Given<Secret>) -> Result<HeaderValue, NodeError> {
    let value = key.value.reveal();
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_graphic()) {
        let message = format!(
            "the key in {} is empty, or holds a space, a line break or another character that no key has",
            key.source
        );
        return Err(NodeError::new(Category::ApiKeyError, message));
    }
    let mut header = HeaderValue::from_str(&format!("Bearer {value}")).map_err(|_| {
        NodeError::new(Category::ApiKeyError, format!("the key in {} cannot be sent", key.source))
    })?;
    header.set_sensitive(true);
    Ok(header)
}

impl fmt::Debug for OpenAiBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("OpenAiBuilder")
            // A base URL may hold a key in its query.
            .field("base_url", &self.base_url.as_ref().map(|_| "[given]"))
            .field("api_key", &self.key.as_ref().map(|key| &key.value))
            .field("model", &self.model)
            .field("headers", &headers)
            .field("connect_timeout", &self.connect_timeout)
            .field("attempt_timeout", &self.attempt_timeout)
            .field("max_body_bytes", &self.body_cap)
            .field("proxy", &self.proxy)
            .finish_non_exhaustive()
    }
}
