//! The builder of [`OpenAi`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::internal::Secret;
use llmnode_model::{Category, ModelError, ResponseFormat, RetryBudget};

use super::OpenAi;
use crate::http::client::Client;
use crate::http::headers::{ConfigSource, Sourced, is_secret};

pub(super) const KEY: &str = "OPENAI_API_KEY";
const BASE_URL: &str = "OPENAI_BASE_URL";
const MODEL: &str = "OPENAI_MODEL";

/// Builds an [`OpenAi`]. Every setting has a default. [`build`](OpenAiBuilder::build) checks them together.
///
/// ```
/// use std::time::Duration;
/// # mod llmnode { pub use llmnode_model::*; pub use llmnode_http::*; }
/// use llmnode::OpenAi;
///
/// let model = OpenAi::builder()
///     .base_url("http://127.0.0.1:8080/v1") // a loopback server needs no key
///     .model("local")
///     .attempt_timeout(Duration::from_secs(30))
///     .build()?;
/// # Ok::<(), llmnode_model::ModelError>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `build`"]
pub struct OpenAiBuilder {
    pub(super) base_url: Option<Sourced<String>>,
    pub(super) key: Option<Sourced<Secret>>,
    pub(super) key_source: KeySource,
    pub(super) key_header: &'static str,
    pub(super) without_key: bool,
    pub(super) config_source: Option<Arc<dyn ConfigSource>>,
    pub(super) model: Option<String>,
    pub(super) response_format: Option<ResponseFormat>,
    pub(super) headers: Vec<(String, Secret)>,
    pub(super) client_request_id: bool,
    pub(super) connect_timeout: Duration,
    pub(super) attempt_timeout: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) body_cap: usize,
    pub(super) proxy: Option<Secret>,
    pub(super) root_certificates: Vec<Vec<u8>>,
    pub(super) allow_plain_http: bool,
    pub(super) public_only: bool,
    /// In place of connections of ours.
    pub(super) own_client: Option<Client>,
    pub(super) retry_budget: RetryBudget,
}

impl OpenAi {
    /// Creates the model that the environment names: `OPENAI_API_KEY`, `OPENAI_BASE_URL` (default
    /// `https://api.openai.com/v1`; a loopback server needs no key) and `OPENAI_MODEL` (default: each call names
    /// its own).
    ///
    /// # Errors
    /// The errors of [`OpenAiBuilder::from_env`] and [`OpenAiBuilder::build`].
    pub fn from_env() -> Result<OpenAi, ModelError> {
        OpenAiBuilder::from_env()?.build()
    }

    /// Builds a model without reading the environment: by default OpenAI's, with the key set by
    /// [`api_key`](OpenAiBuilder::api_key). Other known servers have their own constructors, such as
    /// [`azure`](OpenAi::azure) and [`ollama`](OpenAi::ollama). For any other server, set the
    /// [`base_url`](OpenAiBuilder::base_url).
    pub fn builder() -> OpenAiBuilder {
        OpenAiBuilder::default()
    }
}

#[derive(Clone, Copy)]
pub(super) enum KeySource {
    Program,
    /// `from_env` has looked for it.
    Environment,
    Variable(&'static str),
}

impl KeySource {
    pub(super) fn remedy(self) -> String {
        match self {
            KeySource::Program => format!(
                "set it with `.api_key(..)`, or make the model with `OpenAi::from_env()`, which reads {KEY}"
            ),
            KeySource::Environment => format!("set {KEY}, or `.api_key(..)`"),
            KeySource::Variable(variable) => format!("set {variable}, or `.api_key(..)`"),
        }
    }
}

impl Default for OpenAiBuilder {
    fn default() -> Self {
        OpenAiBuilder {
            base_url: None,
            key: None,
            key_source: KeySource::Program,
            key_header: "authorization",
            config_source: None,
            without_key: false,
            model: None,
            response_format: None,
            headers: Vec::new(),
            client_request_id: true,
            connect_timeout: Duration::from_secs(5),
            attempt_timeout: Duration::from_secs(600),
            idle_timeout: Duration::from_secs(60),
            body_cap: 8 * 1024 * 1024,
            proxy: None,
            root_certificates: Vec::new(),
            allow_plain_http: false,
            public_only: false,
            own_client: None,
            retry_budget: RetryBudget::default(),
        }
    }
}

impl OpenAiBuilder {
    /// Reads `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL` from the environment. An empty variable counts as
    /// absent. Settings on the builder afterwards replace them.
    ///
    /// # Errors
    /// `api_key_error` if there is neither key nor base URL; `config_error` for a variable that is not Unicode.
    pub fn from_env() -> Result<Self, ModelError> {
        Self::from_variables(env_var)
    }

    fn from_variables(variable: impl Fn(&str) -> Option<Result<String, ()>>) -> Result<Self, ModelError> {
        let read = |name| read(name, &variable);
        let mut builder = OpenAiBuilder { key_source: KeySource::Environment, ..OpenAiBuilder::default() };
        builder.model = read(MODEL)?;
        builder.base_url = read(BASE_URL)?.map(|value| Sourced { value, source: BASE_URL });
        builder.key = read(KEY)?.map(|value| Sourced { value: Secret::new(value), source: KEY });
        if builder.key.is_none() && builder.base_url.is_none() {
            let message = format!(
                "neither {KEY} nor {BASE_URL} is set: set {KEY} to a key of OpenAI, or {BASE_URL} to the base URL \
                 of a compatible server, such as http://127.0.0.1:8080/v1"
            );
            return Err(ModelError::unsent(Category::ApiKeyError, message));
        }
        Ok(builder)
    }

    fn has_credential(&self) -> bool {
        self.headers.iter().any(|(name, value)| is_secret(name, value))
    }

    pub(super) fn resolve_key(&self) -> Result<Option<Sourced<Secret>>, ModelError> {
        match (&self.key, self.key_source) {
            (None, KeySource::Variable(name)) if !self.without_key && !self.has_credential() => {
                let value = read(name, env_var)?;
                Ok(value.map(|value| Sourced { value: Secret::new(value), source: name }))
            }
            (key, _) => Ok(key.clone()),
        }
    }

    /// Sets the base URL, such as `http://127.0.0.1:8080/v1`. Default `https://api.openai.com/v1`. A URL that two readers
    /// could understand differently is a `config_error`: with a backslash or a space, a host that is not ASCII, or an
    /// address such as `127.1`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(Sourced { value: url.into(), source: "`base_url`" });
        self
    }

    /// Sets the key. Default: for a known server ([`OpenAi::groq`], ..), the key in its variable; otherwise none. Loopback
    /// servers need none.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(Sourced { value: Secret::new(key), source: "`api_key`" });
        self
    }

    /// Sends no key, for a server on another machine that needs none.
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

    /// Sets how the model is asked for the type of an answer, unless a call sets it. Default: [`ResponseFormat::Strict`], or
    /// [`ResponseFormat::Schema`] if that cannot express the type. If the endpoint refuses a response format, the next one is used,
    /// and remembered by this model's handle and its clones.
    pub fn response_format(mut self, response_format: ResponseFormat) -> Self {
        self.response_format = Some(response_format);
        self
    }

    /// Sets the organization to which requests are billed.
    pub fn organization(self, id: impl Into<String>) -> Self {
        self.header("openai-organization", id)
    }

    /// Sets the project to which requests are billed.
    pub fn project(self, id: impl Into<String>) -> Self {
        self.header("openai-project", id)
    }

    /// Adds a header to every request. A second value for a name replaces the first. No `Debug` form shows its value.
    /// A value is a secret, and is removed from every message and record, if the header's name is the name of a
    /// credential or the value begins with `Bearer` or `Basic`. A name is the name of a credential if it has one of
    /// these as a whole word: `auth`, `authorization`, `key`, `token`, `secret`, `cookie`, `password`, `signature`;
    /// so are `x-api-key`, `apikey`, `accessToken` and `x-auth-user`, but not `x-portkey-provider` or `x-max-tokens`.
    /// Other values stay as they are: a server may well name the model that a header asked for.
    ///
    /// Headers that frame a request, such as `host` and `content-length`, are a `config_error`.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    /// Sends no `x-client-request-id`. By default each request has the id of its attempt
    /// (`AttemptId`) in that header, so that a provider can find a request whose
    /// response was lost.
    pub fn without_client_request_id(mut self) -> Self {
        self.client_request_id = false;
        self
    }

    /// Sets the longest time to connect, with name resolution and TLS. Default 5 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the longest time of one attempt, from connecting to the last byte of the answer. Default 600 s.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = timeout;
        self
    }

    /// Sets the longest time without an event of a stream. A longer pause is a `timeout`. Comments, which servers
    /// send to keep a connection open, are not events. Time during which nobody polls the stream does not count.
    /// Default 60 s; models that think for longer before they write need more.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets the most bytes of a response body. A longer body is a `bad_response`. For a stream, this limits each
    /// event, and the answer. Default 8 MiB.
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.body_cap = bytes;
        self
    }

    /// Sets an HTTP proxy for all requests, such as `http://proxy.example:3128`; a user name and password in it are sent to
    /// the proxy. By default, `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` of the environment apply, except to
    /// loopback servers, which are reached without a proxy.
    ///
    /// A proxy can read plain http. A key for a loopback server is refused if the proxy is on another machine, unless
    /// [`allow_plain_http`](OpenAiBuilder::allow_plain_http) is set.
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = Some(Secret::new(url));
        self
    }

    /// Trusts the certificates in this PEM text, in addition to those that the system trusts.
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates.push(pem.into());
        self
    }

    /// Allows a key over plain http to another machine, where anyone on the way can read it. Without it, a key is
    /// sent over plain http only to a loopback server, and there only without a proxy or through one on loopback.
    pub fn allow_plain_http(mut self) -> Self {
        self.allow_plain_http = true;
        self
    }

    /// Refuses servers in private networks. If the host of the base URL is a private, loopback or link-local address,
    /// [`build`](OpenAiBuilder::build) fails with a `config_error`; if it is a name that resolves to such an address,
    /// the call fails before anything is sent. The address of the connection itself is checked, so a name cannot
    /// change later. Use this for base URLs that do not come from the program. It does not apply to names behind a
    /// proxy, which resolves them itself, or to a client of your own.
    pub fn public_only(mut self) -> Self {
        self.public_only = true;
        self
    }

    /// Sets the retries that all calls of this model and its clones share. Default: a budget with room for 100. To
    /// share one among models of an endpoint, give each a clone.
    pub fn retry_budget(mut self, budget: RetryBudget) -> Self {
        self.retry_budget = budget;
        self
    }

    /// Sends requests through this client (feature `http-client`). Its own connect timeout, proxies, certificates and
    /// redirects apply instead of the builder's, and its own timeouts apply beside the attempt timeout; switch its
    /// redirects and retries off, since the attempt loop can neither see nor account for them. llmnode cannot see its
    /// proxies. Unless they are switched off, they come from the environment, even for loopback servers: a key over
    /// plain http needs [`allow_plain_http`](OpenAiBuilder::allow_plain_http), whatever the server. llmnode switches on no
    /// feature of reqwest: for https, your own dependency names one for TLS.
    #[cfg(feature = "http-client")]
    pub fn http_client(mut self, client: reqwest::Client) -> Self {
        self.own_client = Some(Client::Own(client));
        self
    }
}

/// An empty variable counts as absent.
fn read(
    name: &str,
    variable: impl Fn(&str) -> Option<Result<String, ()>>,
) -> Result<Option<String>, ModelError> {
    match variable(name).transpose() {
        Ok(value) => Ok(value.filter(|value| !value.is_empty())),
        Err(()) => Err(ModelError::unsent(Category::ConfigError, format!("{name} is not Unicode text"))),
    }
}

fn env_var(name: &str) -> Option<Result<String, ()>> {
    std::env::var_os(name).map(|value| value.into_string().map_err(|_| ()))
}

impl fmt::Debug for OpenAiBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("OpenAiBuilder")
            // A base URL may hold a key in its query.
            .field("base_url", &self.base_url.as_ref().map(|_| "[given]"))
            .field("api_key", &self.key.as_ref().map(|key| &key.value))
            .field("model", &self.model)
            .field("response_format", &self.response_format)
            .field("headers", &headers)
            .field("connect_timeout", &self.connect_timeout)
            .field("attempt_timeout", &self.attempt_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("max_body_bytes", &self.body_cap)
            .field("proxy", &self.proxy)
            .field("retry_budget", &self.retry_budget)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<OpenAiBuilder, ModelError> {
        let variables = variables.to_vec();
        OpenAiBuilder::from_variables(|name| {
            variables.iter().find(|(own, _)| *own == name).map(|(_, value)| Ok((*value).to_owned()))
        })
    }

    #[test]
    fn neither_key_nor_base_url_names_both() {
        for variables in [&[][..], &[(MODEL, "m")], &[(KEY, ""), (BASE_URL, "")]] {
            let error = from(variables).unwrap_err();
            assert_eq!(error.category, Category::ApiKeyError);
            assert!(error.message.contains(KEY) && error.message.contains(BASE_URL));
        }
    }

    #[test]
    fn variables_are_settings() {
        let local = [(BASE_URL, "http://127.0.0.1:8080/v1"), (MODEL, "m")];
        let model = from(&local).unwrap().build().unwrap();
        assert_eq!(
            format!("{model:?}"),
            "OpenAi { endpoint: \"http://127.0.0.1:8080/v1/chat/completions\", model: Some(\"m\"), .. }"
        );
        // What the program says later counts.
        assert_eq!(from(&local).unwrap().model("other").model.as_deref(), Some("other"));
    }

    #[test]
    fn faults_name_their_variable() {
        for (variables, category, name) in [
            ([(KEY, "sk-secret\n"), (MODEL, "m")], Category::ApiKeyError, KEY),
            ([(KEY, "sk-secret"), (BASE_URL, "nowhere")], Category::ConfigError, BASE_URL),
            ([(BASE_URL, "https://models.example"), (MODEL, "m")], Category::ApiKeyError, KEY),
        ] {
            let error = from(&variables).unwrap().build().unwrap_err();
            assert_eq!(error.category, category);
            assert!(error.message.contains(name) && !error.message.contains("secret"), "{error}");
        }
        let error = OpenAiBuilder::from_variables(|_| Some(Err(()))).unwrap_err();
        assert!(error.message.contains("not Unicode"));
    }
}
