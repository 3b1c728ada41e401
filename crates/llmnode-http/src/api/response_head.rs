//! Status and headers of a response.

use http::{HeaderMap, StatusCode};

use crate::http::client::Response;

/// Taken out of the response before its body is read.
pub(crate) struct ResponseHead {
    pub(crate) status: StatusCode,
    pub(crate) request_id: Option<String>,
    // Whether a `Content-Encoding` says that the body is not what it looks like.
    pub(crate) encoded: bool,
    /// Only kept for failures: when to try again.
    pub(crate) headers: HeaderMap,
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

impl ResponseHead {
    pub(crate) fn of(response: &mut Response) -> ResponseHead {
        let headers = std::mem::take(response.headers_mut());
        // OpenAI and most others, Anthropic, Azure.
        let id = ["x-request-id", "request-id", "apim-request-id"]
            .into_iter()
            .find_map(|name| text(&headers, name));
        ResponseHead {
            status: response.status(),
            request_id: id.filter(|id| !id.is_empty()).map(str::to_owned),
            encoded: text(&headers, "content-encoding")
                .is_some_and(|encoding| encoding != "identity"),
            headers,
        }
    }
}
