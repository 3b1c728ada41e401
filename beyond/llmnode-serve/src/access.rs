//! Who may ask: any web page that the user has open can send requests to a local server.
//!
//! The checks go from what a foreign page cannot hide to what only this page knows: the name of the host (against DNS rebinding),
//! the origin, the site that a browser says it comes from, and, for everything that acts, the key. Last comes the type of the body:
//! a form of another page cannot send JSON. The page itself needs no key, since it shows nothing before its script has one.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;

pub(crate) const KEY: &str = "x-llmnode-key";

/// A stream of events continues after its head.
const REQUEST: Duration = Duration::from_secs(10);

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; frame-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Refuses requests that do not come from the page, before anything else.
pub(crate) async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if let Err((status, message)) = allowed(&app, &request) {
        return with_headers((status, message).into_response());
    }
    match tokio::time::timeout(REQUEST, next.run(request)).await {
        Ok(response) => with_headers(response),
        Err(_) => {
            with_headers((StatusCode::REQUEST_TIMEOUT, "the request took too long").into_response())
        }
    }
}

fn allowed(app: &App, request: &Request) -> Result<(), (StatusCode, &'static str)> {
    let headers = request.headers();
    // With DNS rebinding, the host is a foreign name that resolves to this machine.
    if !one(headers, &header::HOST).is_some_and(|host| app.is_host(host)) {
        return Err((StatusCode::FORBIDDEN, "this host is not served"));
    }
    if headers.contains_key(header::ORIGIN) {
        let origin =
            one(headers, &header::ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
        if !origin.is_some_and(|origin| app.is_host(origin)) {
            return Err((StatusCode::FORBIDDEN, "another origin may not ask"));
        }
    }
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if !matches!(site, None | Some(b"same-origin" | b"none")) {
        return Err((
            StatusCode::FORBIDDEN,
            "another site may not ask: paste the address into a new tab",
        ));
    }
    if !request.uri().path().starts_with("/api/") {
        return Ok(());
    }
    if !headers
        .get(KEY)
        .is_some_and(|key| app.key.is(key.as_bytes()))
    {
        return Err((
            StatusCode::FORBIDDEN,
            "the key is missing or wrong: open the URL that was printed",
        ));
    }
    if request.method() == Method::POST && !is_json(headers) {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json"));
    }
    Ok(())
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = one(headers, &header::CONTENT_TYPE).unwrap_or_default();
    kind.split(';')
        .next()
        .is_some_and(|kind| kind.trim() == "application/json")
}

/// A header that occurs once.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(value)
}

fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    // The page of a run has its own policy.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(POLICY));
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
