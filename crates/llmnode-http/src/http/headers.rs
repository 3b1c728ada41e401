//! The headers of requests: those that stay the same, and those that a configuration gives anew for each request.

use std::borrow::Cow;
use std::sync::Arc;

use llmnode_runtime::internal::{Secret, catch_panic, is_credential};
use llmnode_runtime::{Category, NodeError};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// Headers that say where a request goes, and how it stands on the connection.
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

/// A configuration: where requests go, asked once, and their headers, asked for each.
pub(crate) trait ConfigSource: Send + Sync {
    /// The URL for a path such as `/chat/completions`, with its query.
    fn url(&self, path: &str) -> Result<String, String>;

    /// The headers of one request.
    fn headers(&self) -> HeaderMap;

    /// The key that is in them, in whatever form.
    fn key(&self) -> Secret;
}

/// A setting, and where it comes from.
#[derive(Clone)]
pub(crate) struct Sourced<T> {
    pub(crate) value: T,
    pub(crate) source: &'static str,
}

/// What a program sets of the headers.
pub(crate) struct HeaderSettings<'a> {
    /// The header that the key goes into.
    pub(crate) key_header: &'static str,
    pub(crate) key: Option<&'a Sourced<Secret>>,
    pub(crate) headers: &'a [(String, Secret)],
    pub(crate) config_source: Option<Arc<dyn ConfigSource>>,
}

/// What requests are sent with.
#[derive(Clone)]
pub(crate) struct Headers {
    /// Those that any other of the same name replaces.
    defaults: HeaderMap,
    /// Those of the program, the key among them.
    custom: HeaderMap,
    /// What no message may show of these, of the URL and of the proxy.
    secrets: Vec<Secret>,
    config_source: Option<Arc<dyn ConfigSource>>,
    /// Why no key may be sent to the endpoint.
    key_exposure: Option<String>,
}

/// The headers of one request.
pub(crate) struct RequestHeaders<'a> {
    pub(crate) headers: HeaderMap,
    /// What no message about the request may show.
    pub(crate) secrets: Cow<'a, [Secret]>,
}

impl Headers {
    /// `secrets` holds the credentials that are in neither the headers nor the key, such as those of a proxy.
    pub(crate) fn new(
        program: HeaderSettings<'_>,
        secrets: Vec<Secret>,
        key_exposure: Option<String>,
    ) -> Result<Headers, NodeError> {
        let mut custom = HeaderMap::new();
        let HeaderSettings { key_header, key, headers, config_source } = program;
        if let Some(key) = key {
            custom.insert(key_header, key_header_value(key, key_header)?);
        }
        for (name, given) in headers {
            let (name, value) = program_header(name, given)?;
            custom.insert(name, value);
        }
        let key = key.map(|key| key.value.clone());
        let given = headers.iter().filter(|(name, value)| is_secret(name, value));
        let given = given.flat_map(|(_, value)| credential_forms(value.reveal()));
        let secrets = key.into_iter().chain(given).chain(secrets).collect();
        let mut headers = Headers { defaults: defaults(), custom, secrets, config_source, key_exposure };
        if headers.config_source.is_none() {
            // Nothing comes in between.
            let custom = std::mem::take(&mut headers.custom);
            put(&mut headers.defaults, &custom);
        }
        Ok(headers)
    }

    /// Whether a key is among those that stay the same.
    pub(crate) fn has_key(&self) -> bool {
        self.custom.values().chain(self.defaults.values()).any(HeaderValue::is_sensitive)
    }

    /// What no message may show, whatever the request.
    pub(crate) fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// The headers of the next request, or why there are none.
    pub(crate) fn for_request(&self) -> Result<RequestHeaders<'_>, String> {
        let mut headers = self.defaults.clone();
        let Some(source) = &self.config_source else {
            return Ok(RequestHeaders { headers, secrets: Cow::Borrowed(&self.secrets) });
        };
        let (given, key) = catch_panic(|| (source.headers(), source.key())).map_err(|said| {
            format!(
                "`config` panicked as it made the headers of the request ({said}); most often the key contains a line \
                 break or another character that headers cannot have"
            )
        })?;
        let mut secrets = self.secrets.clone();
        secrets.push(key);
        let given = mark_credentials(given, &mut secrets)?;
        if let Some(why) =
            self.key_exposure.as_ref().filter(|_| given.values().any(HeaderValue::is_sensitive))
        {
            return Err(why.clone());
        }
        put(&mut headers, &given);
        put(&mut headers, &self.custom);
        Ok(RequestHeaders { headers, secrets: Cow::Owned(secrets) })
    }
}

/// The headers of a request for which the program sets none.
fn defaults() -> HeaderMap {
    let agent = concat!("llmnode/", env!("CARGO_PKG_VERSION"));
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json"),
        // Without it, a server may compress as it likes.
        ("accept-encoding", "identity"),
        ("user-agent", agent),
    ];
    headers
        .into_iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect()
}

/// Puts headers in the place of those of the same names.
fn put(headers: &mut HeaderMap, new: &HeaderMap) {
    for name in new.keys() {
        headers.remove(name);
        for value in new.get_all(name) {
            headers.append(name, value.clone());
        }
    }
}

/// The headers with each credential marked as one, and kept among the secrets.
fn mark_credentials(mut headers: HeaderMap, secrets: &mut Vec<Secret>) -> Result<HeaderMap, String> {
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

/// A header that the program sets.
fn program_header(name: &str, given: &Secret) -> Result<(HeaderName, HeaderValue), NodeError> {
    let fault = |part| {
        let message =
            format!("the {part} of the header {name:?} contains a character that headers cannot have");
        NodeError::new(Category::ConfigError, message)
    };
    let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| fault("name"))?;
    if FRAMING.contains(&header.as_str()) {
        return Err(NodeError::new(Category::ConfigError, framing(name)));
    }
    let mut value = HeaderValue::from_str(given.reveal()).map_err(|_| fault("value"))?;
    value.set_sensitive(is_secret(name, given));
    Ok((header, value))
}

fn framing(name: &str) -> String {
    format!("the header {name:?} is set by the HTTP client for each request; leave it out")
}

/// Whether a header is a credential, by its name or by the scheme of its value.
pub(crate) fn is_secret(name: &str, value: &Secret) -> bool {
    let scheme = value.reveal().split_once(' ').map_or("", |(scheme, _)| scheme);
    let schemes = ["basic", "bearer"];
    is_credential(name) || schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// A credential as it is sent, and without its scheme: of `Bearer …` a server may quote what follows alone.
fn credential_forms(value: &str) -> Vec<Secret> {
    let credential = value.split_once(' ').map(|(_, credential)| credential);
    std::iter::once(value).chain(credential).map(Secret::new).collect()
}

fn key_header_value(key: &Sourced<Secret>, header: &str) -> Result<HeaderValue, NodeError> {
    let value = key.value.reveal();
    // Quotation marks and `\n` come from files whose reader did not take them away.
    let fits = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\');
    if value.is_empty() || !value.bytes().all(fits) {
        let message = format!(
            "the key in {} is empty, or contains a space, a line break, a quotation mark, a backslash or another \
             character that no key has",
            key.source
        );
        return Err(NodeError::new(Category::ApiKeyError, message));
    }
    let scheme = if header == "authorization" { "Bearer " } else { "" };
    let mut header = HeaderValue::from_str(&format!("{scheme}{value}")).map_err(|_| {
        NodeError::new(Category::ApiKeyError, format!("the key in {} cannot be sent", key.source))
    })?;
    header.set_sensitive(true);
    Ok(header)
}
