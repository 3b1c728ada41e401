//! A client for servers other than models.

use std::time::Duration;

use llmnode_model::{Category, ModelError};
use reqwest::{Client, Url, redirect, retry};

use super::endpoint::is_loopback;
use super::tls;

/// A client that follows no redirect and sends nothing twice. With `secret`, a secret is sent, which leaves this machine by
/// https only.
///
/// # Errors
/// If the URL is not for HTTP, has a password, or is not safe for a secret; if TLS is not possible.
pub fn client(url: &str, secret: bool) -> Result<Client, ModelError> {
    let fault = |why: &str| ModelError::unsent(Category::ConfigError, why.to_owned());
    let url = Url::parse(url)
        .map_err(|_| fault("the URL cannot be read; write it like https://mcp.example/mcp"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(fault("the URL is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(fault("the URL contains a user or a password; name the variable that has the token"));
    }
    let (https, loopback) = (url.scheme() == "https", is_loopback(&url));
    if secret && !https && !loopback {
        return Err(fault("a token is sent by https only, except to this machine"));
    }
    let tls = if https { tls::trusting_system(Vec::new()) } else { tls::trusting_nobody() };
    let tls = tls.map_err(|error| fault(&format!("https is not possible: {error}")))?;
    let mut builder = Client::builder()
        .connect_timeout(Duration::from_secs(10))
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .tls_backend_preconfigured(tls);
    if loopback {
        builder = builder.no_proxy();
    }
    builder
        .build()
        .map_err(|error| fault(&format!("the HTTP client cannot be made: {}", error.without_url())))
}
