//! The settings of a model's client. Every builder has them.
//!
//! They are plain values until `assemble.rs` checks them. The builders of the three
//! handles have the same functions, so these are written once, by the macro
//! `client_settings`, with their documentation.

use std::sync::Arc;
use std::time::Duration;

use llmnode_model::ext::Secret;
use llmnode_model::{Cache, Category, ModelError, Pace, ResponseFormat, RetryBudget};

use super::sent_calls::IdForm;
use super::wire::Wire;
use crate::http::client::Client;
use crate::http::headers::{ConfigSource, Sourced, is_secret};

/// As the builder or the environment set them.
#[derive(Clone)]
pub(crate) struct ClientSettings {
    pub(crate) wire: &'static Wire,
    pub(crate) base_url: Option<Sourced<String>>,
    pub(crate) key: Option<Sourced<Secret>>,
    // Where a missing key is looked for, and what the message then says.
    pub(crate) key_source: KeySource,
    pub(crate) key_header: &'static str,
    pub(crate) without_key: bool,
    pub(crate) config_source: Option<Arc<dyn ConfigSource>>,
    pub(crate) model: Option<String>,
    pub(crate) response_format: Option<ResponseFormat>,
    pub(crate) headers: Vec<(String, Secret)>,
    pub(crate) client_request_id: bool,
    pub(crate) connect_timeout: Duration,
    pub(crate) attempt_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    pub(crate) thinking_timeout: Duration,
    pub(crate) body_cap: usize,
    pub(crate) proxy: Option<Secret>,
    pub(crate) root_certificates: Vec<Vec<u8>>,
    pub(crate) allow_plain_http: bool,
    pub(crate) public_only: bool,
    pub(crate) own_client: Option<Client>,
    pub(crate) retry_budget: RetryBudget,
    pub(crate) pace: Option<Pace>,
    pub(crate) cache: Option<Cache>,
    pub(crate) id_form: Option<IdForm>,
    /// The user chose between the APIs that a handle has.
    pub(crate) is_api_chosen: bool,
}

/// Set by the program, by the provider's own variables, or by the variable of a
/// known server.
#[derive(Clone, Copy)]
pub(crate) enum KeySource {
    Program,
    Environment,
    Variable(&'static str),
}

impl ClientSettings {
    /// The defaults. They are documented at the functions of the builders.
    pub(crate) fn new(wire: &'static Wire) -> Self {
        ClientSettings {
            wire,
            base_url: None,
            key: None,
            key_source: KeySource::Program,
            key_header: wire.key_header,
            config_source: None,
            without_key: false,
            model: None,
            response_format: None,
            headers: Vec::new(),
            client_request_id: true,
            connect_timeout: Duration::from_secs(5),
            attempt_timeout: Duration::from_secs(600),
            // Most servers send something at least every half minute.
            idle_timeout: Duration::from_secs(60),
            thinking_timeout: Duration::from_secs(600),
            body_cap: 8 * 1024 * 1024,
            proxy: None,
            root_certificates: Vec::new(),
            allow_plain_http: false,
            public_only: false,
            own_client: None,
            retry_budget: RetryBudget::default(),
            pace: None,
            cache: None,
            id_form: None,
            is_api_chosen: false,
        }
    }

    /// Reads the key, base URL and model from the environment. Of two keys, the first counts.
    /// The variables are read by a function, so that tests need not change the
    /// environment.
    pub(crate) fn with_variables(
        mut self,
        variable: impl Fn(&str) -> Option<Result<String, ()>>,
    ) -> Result<Self, ModelError> {
        let Wire {
            title,
            key,
            other_key,
            base_url,
            model,
            ..
        } = self.wire;
        self.key_source = KeySource::Environment;
        self.model = sourced(model, &variable)?.map(|model| model.value);
        self.base_url = sourced(base_url, &variable)?;
        let first = sourced(key, &variable)?;
        let other = other_key
            .map(|(name, _)| sourced(name, &variable))
            .transpose()?
            .flatten();
        match (&first, &other, other_key) {
            (Some(_), Some(Sourced { source, .. }), _) => {
                tracing::info!(target: "llmnode::key", "{key} and {source} are set: the first one \
                                                        is used");
            }
            (None, Some(_), Some((_, header))) => self.key_header = header,
            _ => {}
        }
        self.key = first.or(other).map(|Sourced { value, source }| Sourced {
            value: Secret::new(value),
            source,
        });
        if self.key.is_some() || self.base_url.is_some() {
            return Ok(self);
        }
        let message = match other_key {
            Some((other_key, _)) => {
                let hint = read("OPENAI_API_KEY", &variable)?
                    .map_or("", |_| " (OPENAI_API_KEY is, and is for `OpenAi`)");
                format!("neither {key} nor {other_key} is set{hint}; set one, or `.api_key(..)`")
            }
            None => format!(
                "neither {key} nor {base_url} is set: set {key} to a key of {title}, or {base_url} \
                 to the base URL of a compatible server, such as http://127.0.0.1:8080/v1"
            ),
        };
        Err(ModelError::unsent(Category::ApiKeyError, message))
    }

    /// What to do about a missing key, as this handle was made.
    pub(crate) fn key_remedy(&self) -> String {
        let Wire { handle, key, .. } = self.wire;
        match self.key_source {
            KeySource::Program => format!(
                "set it with `.api_key(..)`, or make the model with `{handle}::from_env()`, which \
                 reads {key}"
            ),
            KeySource::Environment => format!("set {key}, or `.api_key(..)`"),
            KeySource::Variable(variable) => format!("set {variable}, or `.api_key(..)`"),
        }
    }

    /// A header that is a credential is as good as a key.
    fn has_credential(&self) -> bool {
        self.headers
            .iter()
            .any(|(name, value)| is_secret(name, value))
    }

    /// The variable of a known server is read only when the handle is built: a key
    /// may be set afterwards.
    pub(crate) fn resolve_key(&self) -> Result<Option<Sourced<Secret>>, ModelError> {
        match (&self.key, self.key_source) {
            (None, KeySource::Variable(name)) if !self.without_key && !self.has_credential() => {
                let value = read(name, env_var)?;
                Ok(value.map(|value| Sourced {
                    value: Secret::new(value),
                    source: name,
                }))
            }
            (key, _) => Ok(key.clone()),
        }
    }
}

/// What all builders have, with its docs. `$variables` are those of the
/// environment, `$example` is a base URL.
macro_rules! client_settings {
    ($builder:ident, $model:ident, $variables:literal, $example:literal) => {
        impl $model {
            #[doc = concat!("Creates the model that the environment names: ", $variables, ".")]
            ///
            /// # Errors
            #[doc = concat!("The errors of [`", stringify!($builder), "::from_env`] and [`", stringify!($builder), "::build`].")]
            pub fn from_env() -> Result<$model, llmnode_model::ModelError> {
                $builder::from_env()?.build()
            }
        }

        impl $builder {
            #[doc = concat!("Reads the environment: ", $variables, ". An empty variable counts as absent.")]
            /// Settings on the builder afterwards replace them.
            ///
            /// # Errors
            /// `api_key_error` if there is neither key nor base URL; `config_error`
            /// for a variable that is not Unicode.
            pub fn from_env() -> Result<Self, llmnode_model::ModelError> {
                let settings = $model::builder().settings.with_variables(crate::api::settings::env_var)?;
                Ok($builder { settings })
            }

            /// Checks the settings and returns the model. The first requests make the connections.
            ///
            /// # Errors
            /// `api_key_error` if the key is missing or malformed; it names the
            /// source of the key and never shows the key. `config_error` for any
            /// other impossible setting.
            pub fn build(self) -> Result<$model, llmnode_model::ModelError> {
                $model::of_settings(self.settings)
            }

            #[doc = concat!("Sets the base URL, such as ", $example, ". A URL that two readers could understand differently is a")]
            /// `config_error`: with a backslash or a space, a host that is not
            /// ASCII, or an address such as `127.1`.
            pub fn base_url(mut self, url: impl Into<String>) -> Self {
                self.settings.base_url =
                    Some(crate::http::headers::Sourced { value: url.into(), source: "`base_url`" });
                self
            }

            /// Sets the key. Default: none, or for a known server the key in its
            /// variable. Loopback servers need none.
            pub fn api_key(mut self, key: impl Into<String>) -> Self {
                // A bearer token of the environment had another header.
                if self.settings.key_header == "authorization" {
                    self.settings.key_header = self.settings.wire.key_header;
                }
                self.settings.key = Some(crate::http::headers::Sourced {
                    value: llmnode_model::ext::Secret::new(key),
                    source: "`api_key`",
                });
                self
            }

            /// Sends no key, for a server on another machine that needs none.
            pub fn without_key(mut self) -> Self {
                self.settings.key = None;
                self.settings.without_key = true;
                self
            }

            /// Sets the model for calls that name none. No default.
            pub fn model(mut self, model: impl Into<String>) -> Self {
                self.settings.model = Some(model.into());
                self
            }

            /// Sets how the model is asked for the type of an answer, unless a call
            /// sets it. Default:
            /// [`ResponseFormat::Strict`](llmnode_model::ResponseFormat::Strict),
            /// or
            /// [`ResponseFormat::Schema`](llmnode_model::ResponseFormat::Schema) if that cannot express the type. If the endpoint refuses a response format, the next one is used,
            /// and remembered by this model's handle and its clones.
            pub fn response_format(mut self, response_format: llmnode_model::ResponseFormat) -> Self {
                self.settings.response_format = Some(response_format);
                self
            }

            /// Adds a header to every request. A second value for a name replaces
            /// the first. No `Debug` form shows its value. A value is a secret, and
            /// is removed from every message and record, if the header's name is
            /// the name of a credential or the value begins with `Bearer` or
            /// `Basic`. A name is the name of a credential if it has one of these
            /// as a whole word: `auth`, `authorization`, `key`, `token`, `secret`,
            /// `cookie`, `password`, `signature`; so are `x-api-key`, `apikey`,
            /// `accessToken` and `x-auth-user`, but not `x-portkey-provider` or
            /// `x-max-tokens`. Other values stay as they are: a server may well
            /// name the model that a header asked for.
            ///
            /// Headers that frame a request, such as `host` and `content-length`,
            /// are a `config_error`.
            pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
                self.settings.headers.push((name.into(), llmnode_model::ext::Secret::new(value)));
                self
            }

            /// Sends no `x-client-request-id`. By default each request has the id of its attempt
            /// (`AttemptId`) in that header, so that a provider can find a request whose
            /// response was lost.
            pub fn without_client_request_id(mut self) -> Self {
                self.settings.client_request_id = false;
                self
            }

            /// Sets the longest time to connect, with name resolution and TLS. Default 5 s.
            pub fn connect_timeout(mut self, timeout: std::time::Duration) -> Self {
                self.settings.connect_timeout = timeout;
                self
            }

            /// Sets the longest time of one attempt, from connecting to the last
            /// byte of the answer. Default 600 s.
            pub fn attempt_timeout(mut self, timeout: std::time::Duration) -> Self {
                self.settings.attempt_timeout = timeout;
                self
            }

            /// Sets the longest time in which nothing of a stream comes. A longer
            /// pause is a `timeout`. Once the model writes text or arguments, only
            /// more of them counts; before that, and while it thinks, any event
            /// does. Comments, which servers send to keep a connection open, never
            /// count. Time during which nobody polls the stream does not count
            /// either. Default 60 s; models that think for longer without an event
            /// need more.
            pub fn idle_timeout(mut self, timeout: std::time::Duration) -> Self {
                self.settings.idle_timeout = timeout;
                self
            }

            /// Sets the longest time in which a stream has events, such as thoughts
            /// and pings, and neither text nor arguments. A longer one is a
            /// `timeout`, which is not retried: the model may be at work. Time
            /// during which nobody polls the stream does not count. Default 10
            /// minutes.
            pub fn thinking_timeout(mut self, timeout: std::time::Duration) -> Self {
                self.settings.thinking_timeout = timeout;
                self
            }

            /// Sets the most bytes of a response body. A longer body is a
            /// `bad_response`. For a stream, this limits each event, and the
            /// answer. Default 8 MiB.
            pub fn max_body_bytes(mut self, bytes: usize) -> Self {
                self.settings.body_cap = bytes;
                self
            }

            /// Sets an HTTP proxy for all requests, such as
            /// `http://proxy.example:3128`; a user name and password in it are sent
            /// to the proxy. By default, `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`
            /// and `NO_PROXY` of the environment apply, except to loopback servers,
            /// which are reached without a proxy.
            ///
            /// A proxy can read plain http. A key for a loopback server is refused
            /// if the proxy is on another machine, unless
            /// [`allow_plain_http`](Self::allow_plain_http) is set.
            pub fn proxy(mut self, url: impl Into<String>) -> Self {
                self.settings.proxy = Some(llmnode_model::ext::Secret::new(url));
                self
            }

            /// Trusts the certificates in this PEM text, in addition to those that
            /// the system trusts.
            pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
                self.settings.root_certificates.push(pem.into());
                self
            }

            /// Allows a key over plain http to another machine, where anyone on the
            /// way can read it. Without it, a key is sent over plain http only to a
            /// loopback server, and there only without a proxy or through one on
            /// loopback.
            pub fn allow_plain_http(mut self) -> Self {
                self.settings.allow_plain_http = true;
                self
            }

            /// Refuses servers in private networks. If the host of the base URL is
            /// a private, loopback or link-local address,
            /// [`build`](Self::build) fails with a `config_error`; if it is a name that resolves to such an address,
            /// the call fails before anything is sent. The address of the
            /// connection itself is checked, so a name cannot change later. Use
            /// this for base URLs that do not come from the program. It does not
            /// apply to names behind a proxy, which resolves them itself, or to a
            /// client of your own.
            pub fn public_only(mut self) -> Self {
                self.settings.public_only = true;
                self
            }

            /// Sets the retries that all calls of this model and its clones share.
            /// Default: a budget with room for 100. To share one among models of an
            /// endpoint, give each a clone.
            pub fn retry_budget(mut self, budget: llmnode_model::RetryBudget) -> Self {
                self.settings.retry_budget = budget;
                self
            }

            /// Sets how many requests and tokens this model and its clones send at
            /// most in a minute or a second. A call waits before it asks, instead
            /// of being refused. Default: as many as are asked for; after a rate
            /// limit, maps ask at the pace that the server took.
            pub fn pace(mut self, pace: llmnode_model::Pace) -> Self {
                self.settings.pace = Some(pace);
                self
            }

            /// Sends requests through this client (feature `http-client`). Its own
            /// connect timeout, proxies, certificates and redirects apply instead
            /// of the builder's, and its own timeouts apply beside the attempt
            /// timeout; switch its redirects and retries off, since the attempt
            /// loop can neither see nor account for them. llmnode cannot see its
            /// proxies. Unless they are switched off, they come from the
            /// environment, even for loopback servers: a key over plain http needs
            /// [`allow_plain_http`](Self::allow_plain_http), whatever the server.
            /// llmnode switches on no feature of reqwest: for https, your own
            /// dependency names one for TLS.
            #[cfg(feature = "http-client")]
            pub fn http_client(mut self, client: reqwest::Client) -> Self {
                self.settings.own_client = Some(crate::http::client::Client::Own(client));
                self
            }
        }

        impl std::fmt::Debug for $builder {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let settings = &self.settings;
                let headers: Vec<&str> = settings.headers.iter().map(|(name, _)| name.as_str()).collect();
                f.debug_struct(stringify!($builder))
                    // A base URL may have a key in its query.
                    .field("base_url", &settings.base_url.as_ref().map(|_| "[given]"))
                    .field("api_key", &settings.key.as_ref().map(|key| &key.value))
                    .field("model", &settings.model)
                    .field("response_format", &settings.response_format)
                    .field("headers", &headers)
                    .field("connect_timeout", &settings.connect_timeout)
                    .field("attempt_timeout", &settings.attempt_timeout)
                    .field("idle_timeout", &settings.idle_timeout)
                    .field("thinking_timeout", &settings.thinking_timeout)
                    .field("max_body_bytes", &settings.body_cap)
                    .field("proxy", &settings.proxy)
                    .field("retry_budget", &settings.retry_budget)
                    .finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use client_settings;

/// An empty variable counts as absent.
pub(crate) fn read(
    name: &str,
    variable: impl Fn(&str) -> Option<Result<String, ()>>,
) -> Result<Option<String>, ModelError> {
    match variable(name).transpose() {
        Ok(value) => Ok(value.filter(|value| !value.is_empty())),
        Err(()) => Err(ModelError::unsent(
            Category::ConfigError,
            format!("{name} is not Unicode text"),
        )),
    }
}

/// `Err`: there is a value, and it is not Unicode.
pub(crate) fn env_var(name: &str) -> Option<Result<String, ()>> {
    std::env::var_os(name).map(|value| value.into_string().map_err(|_| ()))
}

/// The value of a variable, which knows where it is from, so that an error can say so.
fn sourced(
    name: &'static str,
    variable: &impl Fn(&str) -> Option<Result<String, ()>>,
) -> Result<Option<Sourced<String>>, ModelError> {
    let value = read(name, variable)?;
    Ok(value.map(|value| Sourced {
        value,
        source: name,
    }))
}
