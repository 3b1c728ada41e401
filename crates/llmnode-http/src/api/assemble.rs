//! Turns the settings into what requests need, and reports every impossible one.
//!
//! Order: the endpoint, since most checks ask whether it is this machine; then the
//! key, the headers, the limits, and the client with its certificates. All of it is
//! checked when a handle is built, so that a wrong setting is found at the start of
//! a program and not with its first request at night.

use llmnode_model::ext::Secret;
use llmnode_model::gate::Gates;
use llmnode_model::{Category, ModelError};
use rustls::pki_types::CertificateDer;

use super::cache_memory::CacheMemory;
use super::inner::{Inner, is_own_host};
use super::settings::ClientSettings;
use crate::http::client::Client;
use crate::http::connector::ConnectSettings;
use crate::http::endpoint::Endpoint;
use crate::http::headers::{HeaderSettings, Headers};
use crate::http::lookalikes::key_hint;
use crate::http::proxy::Proxy;
use crate::http::redirects::Redirects;
use crate::http::service::Service;
use crate::http::{address_guard, proxy, tls};
use crate::refusal::beliefs::Beliefs;

impl ClientSettings {
    /// Everything that can be known without a request.
    pub(crate) fn build(self) -> Result<Inner, ModelError> {
        let endpoint = self.endpoint()?;
        self.check_address(&endpoint)?;
        let key = self.resolve_key()?;
        let key_exposure = self.key_exposure(&endpoint);
        let program = HeaderSettings {
            key_header: self.key_header,
            key: key.as_ref(),
            headers: &self.headers,
            config_source: self.config_source.clone(),
        };
        let headers = Headers::new(program, self.other_secrets(&endpoint), key_exposure.clone())?;
        let has_key = headers.has_key() || endpoint.credentials().next().is_some();
        self.check_key(&endpoint, has_key, key_exposure)?;
        self.check_limits()?;
        let (client, connect_timeout) = match &self.own_client {
            Some(client) => (client.clone(), None),
            None => (self.client(&endpoint)?, Some(self.connect_timeout)),
        };
        let service = Service {
            client,
            is_local: self.is_local(&endpoint),
            endpoint,
            client_request_id: self.client_request_id,
            connect_timeout,
            attempt_timeout: self.attempt_timeout,
            idle_timeout: Some(self.idle_timeout),
            thinking_timeout: self.thinking_timeout,
            body_cap: self.body_cap,
        };
        // What a person should look at when the server refuses the key: where it
        // came from.
        let key_hint = match (&key, &self.config_source) {
            (Some(key), _) => {
                let lookalike = key_hint(&service.endpoint.host(), key.value.reveal());
                format!("; check the key in {}{lookalike}", key.source)
            }
            (None, Some(_)) => "; check the key that `config` gives".to_owned(),
            (None, None) if has_key => "; check the key in the header or the base URL".to_owned(),
            (None, None) => format!("; no key was sent: {}", self.key_remedy()),
        };
        Ok(Inner {
            wire: self.wire,
            is_own_host: is_own_host(self.wire.name, service.endpoint.url.host()),
            service,
            model: self.model,
            response_format: self.response_format,
            key_hint,
            headers,
            beliefs: Beliefs::default(),
            redirects: Redirects::default(),
            retry_budget: self.retry_budget,
            gates: Gates::of_pace(self.pace),
            cache: self.cache,
            cache_memory: CacheMemory::default(),
            id_form: self.id_form,
        })
    }

    /// As far as the settings show: a custom client may have a proxy.
    fn is_local(&self, endpoint: &Endpoint) -> bool {
        endpoint.url.is_loopback()
            && self.proxy.as_ref().is_none_or(|url: &Secret| {
                Proxy::parse(url.reveal()).is_ok_and(|proxy| proxy.is_loopback)
            })
    }

    /// By the builder or the environment, by a configuration of another library, or
    /// the provider's own.
    fn endpoint(&self) -> Result<Endpoint, ModelError> {
        match (&self.base_url, &self.config_source) {
            (Some(base), _) => Endpoint::new(&base.value, base.source, self.wire.api),
            (None, Some(config)) => Endpoint::from_config(&**config, self.wire.api),
            (None, None) => Endpoint::new(self.wire.api.example, "the default", self.wire.api),
        }
    }

    /// With `public_only`, for URLs that come from users: no address of this
    /// machine or its network. Names are checked again when they are resolved
    /// (`address_guard`).
    fn check_address(&self, endpoint: &Endpoint) -> Result<(), ModelError> {
        if !self.public_only {
            return Ok(());
        }
        let fault = match address_guard::literal(&endpoint.url) {
            Err(private) => private.to_string(),
            Ok(_) if endpoint.url.localhost().is_some() => {
                format!("{} is this machine", endpoint.host())
            }
            Ok(_) => return Ok(()),
        };
        let message = format!("{fault}; it is refused by `public_only`");
        Err(ModelError::unsent(Category::ConfigError, message))
    }

    /// Secrets that are no key of ours and must not stand in a message either.
    fn other_secrets(&self, endpoint: &Endpoint) -> Vec<Secret> {
        let proxies = match &self.proxy {
            Some(url) => proxy::secrets(url.reveal()),
            None if endpoint.url.is_loopback() && self.own_client.is_none() => Vec::new(),
            None => proxy::env_secrets(),
        };
        proxies.into_iter().chain(endpoint.credentials()).collect()
    }

    /// A server on this machine mostly needs none.
    fn check_key(
        &self,
        endpoint: &Endpoint,
        has_key: bool,
        key_exposure: Option<String>,
    ) -> Result<(), ModelError> {
        if has_key {
            return key_exposure.map_or(Ok(()), |why| {
                Err(ModelError::unsent(Category::ConfigError, why))
            });
        }
        // Each request checks the headers of a configuration.
        if endpoint.url.is_loopback() || self.without_key || self.config_source.is_some() {
            return Ok(());
        }
        let message = format!(
            "{} needs a key: {}; or call `.without_key()` if the server needs none",
            endpoint.host(),
            self.key_remedy()
        );
        Err(ModelError::unsent(Category::ApiKeyError, message))
    }

    /// Why the key could be read on the way, if it could.
    fn key_exposure(&self, endpoint: &Endpoint) -> Option<String> {
        // The proxies of a custom client are not known here.
        let is_local = self.is_local(endpoint) && self.own_client.is_none();
        if endpoint.url.is_https() || self.allow_plain_http || is_local {
            return None;
        }
        let (way, mend) = if endpoint.url.is_loopback() && self.own_client.is_some() {
            (
                "is asked over plain http by the client of `http_client`, which may use a proxy on \
                 another machine",
                "leave the key out",
            )
        } else if endpoint.url.is_loopback() {
            (
                "is asked over plain http through a proxy on another machine",
                "leave the proxy out",
            )
        } else {
            ("is plain http on another machine", "use https")
        };
        Some(format!(
            "{} {way}, where anyone on the way can read the key: {mend}, or call \
             `allow_plain_http()`",
            endpoint.shown
        ))
    }

    /// Zero is a mistake and no way to say "none".
    fn check_limits(&self) -> Result<(), ModelError> {
        let zeros = [
            ("connect_timeout", self.connect_timeout.is_zero()),
            ("attempt_timeout", self.attempt_timeout.is_zero()),
            ("max_body_bytes", self.body_cap == 0),
        ];
        match zeros.iter().find(|(_, is_zero)| *is_zero) {
            Some((name, _)) => Err(ModelError::unsent(
                Category::ConfigError,
                format!("`{name}` is zero; no request could succeed"),
            )),
            None => Ok(()),
        }
    }

    /// A proxy resolves names itself, so that addresses cannot be checked here.
    fn client(&self, endpoint: &Endpoint) -> Result<Client, ModelError> {
        let proxy = self
            .proxy_for(endpoint)
            .map_err(|fault| ModelError::unsent(Category::ConfigError, fault))?;
        let needs_tls =
            endpoint.url.is_https() || proxy.as_ref().is_some_and(|proxy| proxy.is_https);
        let settings = ConnectSettings {
            tls: self.tls(needs_tls)?,
            timeout: self.connect_timeout,
            public_only: self.public_only && proxy.is_none(),
            proxy,
        };
        Ok(Client::new(settings, endpoint.url.is_https()))
    }

    /// Servers on this machine are asked directly, whatever the environment says.
    fn proxy_for(&self, endpoint: &Endpoint) -> Result<Option<Proxy>, String> {
        match &self.proxy {
            Some(url) => Proxy::parse(url.reveal()).map(Some),
            None if endpoint.url.is_loopback() => Ok(None),
            None => Proxy::of_environment(&endpoint.url),
        }
    }

    /// Without https no certificates are loaded: machines without any can then
    /// still ask a local server.
    fn tls(&self, needed: bool) -> Result<rustls::ClientConfig, ModelError> {
        let mut extra: Vec<CertificateDer<'static>> = Vec::new();
        for pem in &self.root_certificates {
            let found = tls::certificates(pem).map_err(|why| {
                config_fault(format!(
                    "the PEM text of `root_certificates` cannot be used: {why}"
                ))
            })?;
            extra.extend(found);
        }
        let config = if needed {
            tls::trusting_system(extra)
        } else {
            tls::trusting_nobody()
        };
        config.map_err(|error| {
            config_fault(format!(
                "https is not possible: {error}. Install the system's certificates (the package is \
                 usually called ca-certificates), or set `root_certificates`"
            ))
        })
    }
}

fn config_fault(message: String) -> ModelError {
    ModelError::unsent(Category::ConfigError, message)
}
