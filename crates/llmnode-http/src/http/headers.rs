//! The headers of requests: fixed ones, and those that a configuration supplies for each request.
//!
//! Order, where two set the same header: the configuration, then what the program
//! set on the builder. A value that is a credential is marked as sensitive, so that
//! no `Debug` form shows it, and is kept as a secret, so that messages of servers
//! that quote it are redacted.

use std::borrow::Cow;
use std::sync::Arc;

use http::header::{HeaderMap, HeaderName, HeaderValue};
use llmnode_model::ext::{Secret, is_credential};
use llmnode_model::internal::catch_panic;
use llmnode_model::{Category, ModelError};

/// Routing and framing headers, which the HTTP client sets.
const FRAMING: [&str; 10] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A configuration of another library, which may make headers anew for each
/// request.
pub(crate) trait ConfigSource: Send + Sync {
    fn url(&self, path: &str) -> Result<String, String>;

    fn headers(&self) -> HeaderMap;

    /// To be redacted, in any form that the headers use.
    fn key(&self) -> Secret;
}

/// A value, and where it comes from, for messages.
#[derive(Clone)]
pub(crate) struct Sourced<T> {
    pub(crate) value: T,
    pub(crate) source: &'static str,
}

/// What the builder has for headers.
pub(crate) struct HeaderSettings<'a> {
    pub(crate) key_header: &'static str,
    pub(crate) key: Option<&'a Sourced<Secret>>,
    pub(crate) headers: &'a [(String, Secret)],
    pub(crate) config_source: Option<Arc<dyn ConfigSource>>,
}

/// Without a configuration, all is in `defaults`, and a request is one clone of the
/// map.
#[derive(Clone)]
pub(crate) struct Headers {
    defaults: HeaderMap,
    custom: HeaderMap,
    secrets: Vec<Secret>,
    config_source: Option<Arc<dyn ConfigSource>>,
    key_exposure: Option<String>,
}

/// With what must not be shown of them.
pub(crate) struct RequestHeaders<'a> {
    pub(crate) headers: HeaderMap,
    pub(crate) secrets: Cow<'a, [Secret]>,
}

impl Headers {
    /// Checks all that the program has set, so that no request fails for it later.
    pub(crate) fn new(
        program: HeaderSettings<'_>,
        secrets: Vec<Secret>,
        key_exposure: Option<String>,
    ) -> Result<Headers, ModelError> {
        let mut custom = HeaderMap::new();
        let HeaderSettings {
            key_header,
            key,
            headers,
            config_source,
        } = program;
        if let Some(key) = key {
            custom.insert(key_header, key_header_value(key, key_header)?);
        }
        for (name, secret) in headers {
            let (name, value) = program_header(name, secret)?;
            custom.insert(name, value);
        }
        let key = key.map(|key| key.value.clone());
        let credentials = headers
            .iter()
            .filter(|(name, value)| is_secret(name, value));
        let credentials = credentials.flat_map(|(_, value)| credential_forms(value.reveal()));
        let secrets = key.into_iter().chain(credentials).chain(secrets).collect();
        let mut headers = Headers {
            defaults: defaults(),
            custom,
            secrets,
            config_source,
            key_exposure,
        };
        if headers.config_source.is_none() {
            let custom = std::mem::take(&mut headers.custom);
            put(&mut headers.defaults, &custom);
        }
        Ok(headers)
    }

    pub(crate) fn has_key(&self) -> bool {
        self.custom
            .values()
            .chain(self.defaults.values())
            .any(HeaderValue::is_sensitive)
    }

    pub(crate) fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// The headers of one request, with what must not be shown of them.
    ///
    /// A configuration is code of others, which may panic, and may make other headers
    /// each time: a key that expires. So its headers are checked here, and whether
    /// they may be sent over this connection is only known now. The program's own
    /// come last, since they take precedence.
    pub(crate) fn for_request(&self) -> Result<RequestHeaders<'_>, String> {
        let mut headers = self.defaults.clone();
        let Some(source) = &self.config_source else {
            return Ok(RequestHeaders {
                headers,
                secrets: Cow::Borrowed(&self.secrets),
            });
        };
        let (supplied, key) = catch_panic(|| (source.headers(), source.key())).map_err(|panic| {
            format!(
                "`config` panicked as it made the headers of the request ({panic}); most often the \
                 key contains a line break or another character that headers cannot have"
            )
        })?;
        let mut secrets = self.secrets.clone();
        secrets.push(key);
        let supplied = mark_credentials(supplied, &mut secrets)?;
        if let Some(why) = self
            .key_exposure
            .as_ref()
            .filter(|_| supplied.values().any(HeaderValue::is_sensitive))
        {
            return Err(why.clone());
        }
        put(&mut headers, &supplied);
        put(&mut headers, &self.custom);
        Ok(RequestHeaders {
            headers,
            secrets: Cow::Owned(secrets),
        })
    }
}

/// The headers of every request, whatever the API.
fn defaults() -> HeaderMap {
    let agent = concat!("llmnode/", env!("CARGO_PKG_VERSION"));
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json"),
        // Without it, a server may choose any compression.
        ("accept-encoding", "identity"),
        ("user-agent", agent),
    ];
    headers
        .into_iter()
        .map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        })
        .collect()
}

/// Replaces all values of a name.
fn put(headers: &mut HeaderMap, new: &HeaderMap) {
    for name in new.keys() {
        headers.remove(name);
        for value in new.get_all(name) {
            headers.append(name, value.clone());
        }
    }
}

/// Of headers that somebody else has made.
fn mark_credentials(
    mut headers: HeaderMap,
    secrets: &mut Vec<Secret>,
) -> Result<HeaderMap, String> {
    for (name, value) in headers.iter_mut() {
        if FRAMING.contains(&name.as_str()) {
            return Err(framing(name.as_str()));
        }
        let text = Secret::new(String::from_utf8_lossy(value.as_bytes()));
        if value.is_sensitive() || is_secret(name.as_str(), &text) {
            value.set_sensitive(true);
            secrets.extend(credential_forms(text.reveal()));
        }
    }
    Ok(headers)
}

/// Errors name the header and never show its value.
fn program_header(name: &str, secret: &Secret) -> Result<(HeaderName, HeaderValue), ModelError> {
    let header =
        HeaderName::from_bytes(name.as_bytes()).map_err(|_| character_fault("name", name))?;
    if FRAMING.contains(&header.as_str()) {
        return Err(ModelError::unsent(Category::ConfigError, framing(name)));
    }
    let mut value =
        HeaderValue::from_str(secret.reveal()).map_err(|_| character_fault("value", name))?;
    value.set_sensitive(is_secret(name, secret));
    Ok((header, value))
}

/// The value is not shown: it may be a secret.
fn character_fault(part: &str, name: &str) -> ModelError {
    let message =
        format!("the {part} of the header {name:?} contains a character that headers cannot have");
    ModelError::unsent(Category::ConfigError, message)
}

fn framing(name: &str) -> String {
    format!("the header {name:?} is set by the HTTP client for each request; leave it out")
}

/// By the header's name, or by the scheme of its value.
pub(crate) fn is_secret(name: &str, value: &Secret) -> bool {
    let scheme = value
        .reveal()
        .split_once(' ')
        .map_or("", |(scheme, _)| scheme);
    let schemes = ["basic", "bearer"];
    is_credential(name)
        || schemes
            .iter()
            .any(|listed| scheme.eq_ignore_ascii_case(listed))
}

/// With and without the scheme: a server may quote only what follows `Bearer`.
fn credential_forms(value: &str) -> Vec<Secret> {
    let credential = value.split_once(' ').map(|(_, credential)| credential);
    std::iter::once(value)
        .chain(credential)
        .map(Secret::new)
        .collect()
}

/// A key with a character that no key has was read wrong. It is refused here, since
/// a server would only say that the key is unknown.
fn key_header_value(key: &Sourced<Secret>, header: &str) -> Result<HeaderValue, ModelError> {
    let value = key.value.reveal();
    // Quotation marks and line ends remain if the reader of a file did not strip them.
    if value.is_empty()
        || !value
            .bytes()
            .all(|byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\'))
    {
        let message = format!(
            "the key in {} is empty, or contains a space, a line break, a quotation mark, a \
             backslash or another character that no key has",
            key.source
        );
        return Err(ModelError::unsent(Category::ApiKeyError, message));
    }
    let scheme = if header == "authorization" {
        "Bearer "
    } else {
        ""
    };
    let mut header = HeaderValue::from_str(&format!("{scheme}{value}")).map_err(|_| {
        ModelError::unsent(
            Category::ApiKeyError,
            format!("the key in {} cannot be sent", key.source),
        )
    })?;
    header.set_sensitive(true);
    Ok(header)
}
