//! Status and headers of a response.

use http::{HeaderMap, StatusCode};
use llmnode_reader::text::one_line;

use crate::http::client::Response;

pub(crate) struct ResponseHead {
    pub(crate) status: StatusCode,
    pub(crate) request_id: Option<String>,
    pub(crate) encoded: bool,
    /// Only kept for failures: when to try again.
    pub(crate) headers: HeaderMap,
}

impl ResponseHead {
    pub(crate) fn of(response: &mut Response) -> ResponseHead {
        let headers = std::mem::take(response.headers_mut());
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let id = ["x-request-id", "request-id", "apim-request-id"]
            .into_iter()
            .find_map(text);
        ResponseHead {
            status: response.status(),
            request_id: id.filter(|id| !id.is_empty()).map(|id| one_line(id, 200)),
            encoded: text("content-encoding").is_some_and(|encoding| encoding != "identity"),
            headers,
        }
    }
}
