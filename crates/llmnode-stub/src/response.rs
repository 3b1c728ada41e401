//! Turns a reply into what goes over the wire.

use std::sync::Arc;

use serde_json::Value;

use super::api::Api;
use super::completion::{self, Filler};
use super::counts::TokenCounts;
use super::log::LoggedRequest;
use super::reply::{Content, StubReply};
use super::wire::{self, Streamed};

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    content_type: &'static str,
    pub(super) body: Body,
    pub(super) usage: Option<TokenCounts>,
}

pub(super) enum Body {
    Bytes(Arc<[u8]>),
    Filler(Filler),
    Pieces(Arc<[Vec<u8>]>),
}

impl Response {
    /// `None`: a fault, which has no response.
    pub(super) fn new(reply: &StubReply, request: &LoggedRequest) -> Option<Self> {
        let headers = reply.headers.clone();
        if let Content::Bytes {
            status,
            content_type,
            body,
            usage,
        } = &reply.content
        {
            let body = Body::Bytes(Arc::clone(body));
            return Some(Self {
                status: *status,
                headers,
                content_type,
                body,
                usage: *usage,
            });
        }
        let api = request.api().unwrap_or(Api::Chat);
        if let Content::Error {
            status,
            kind,
            code,
            message,
        } = &reply.content
        {
            let body = bytes(&wire::error(api, *status, kind, code, message));
            return Some(Self {
                status: *status,
                headers,
                content_type: JSON,
                body,
                usage: None,
            });
        }
        let (content_type, body, usage) = answer(reply, request, api)?;
        Some(Self {
            status: 200,
            headers,
            content_type,
            body,
            usage,
        })
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// RFC 9110, 6.4.1.
    pub(super) fn may_have_body(&self) -> bool {
        !matches!(self.status, 100..=199 | 204 | 304)
    }

    pub(super) fn write_head(&self, out: &mut Vec<u8>, request_id: &str, close: bool) {
        write_line(
            out,
            [
                "HTTP/1.1 ",
                &format!("{:03} ", self.status),
                reason(self.status),
            ],
        );
        if self.may_have_body() {
            self.default_header(out, "content-type", self.content_type);
            if matches!(self.body, Body::Pieces(_)) {
                self.default_header(out, "transfer-encoding", "chunked");
            } else if self.header("transfer-encoding").is_none() {
                self.default_header(out, "content-length", &self.body.len().to_string());
            }
        }
        self.default_header(out, "x-request-id", request_id);
        if close {
            self.default_header(out, "connection", "close");
        }
        for (name, value) in &self.headers {
            write_line(out, [name, ": ", value]);
        }
        write_line(out, ["", "", ""]);
    }

    fn default_header(&self, out: &mut Vec<u8>, name: &str, value: &str) {
        if self.header(name).is_none() {
            write_line(out, [name, ": ", value]);
        }
    }
}

fn write_line(out: &mut Vec<u8>, parts: [&str; 3]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

impl Body {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Pieces(pieces) => pieces.iter().map(|piece| piece.len() as u64).sum(),
            Self::Filler(f) => f
                .bytes
                .saturating_add((f.before.len() + f.after.len()) as u64),
        }
    }
}

/// What a reply of 200 has. `None`: the reply is no answer of a model.
fn answer(
    reply: &StubReply,
    request: &LoggedRequest,
    api: Api,
) -> Option<(&'static str, Body, Option<TokenCounts>)> {
    if let Content::Stream(pieces) = &reply.content {
        return Some((EVENTS, Body::Pieces(Arc::clone(pieces)), None));
    }
    if let Content::Filler(bytes) = reply.content {
        let (filler, usage) = completion::filler_completion(reply, bytes, request);
        return Some((JSON, Body::Filler(filler), usage));
    }
    let (body, usage) = completion::for_request(reply, request)?;
    let sent = request.json().unwrap_or(&Value::Null);
    let streamed = wire::streamed(api, request.path(), sent, &body, reply.pieces.as_deref());
    let (content_type, body) = match streamed {
        Some(Streamed::Events(events)) => (EVENTS, Body::Pieces(events.into())),
        Some(Streamed::List(list)) => (JSON, bytes(&list)),
        None => (JSON, bytes(&body)),
    };
    Some((content_type, body, usage))
}

fn bytes(json: &Value) -> Body {
    Body::Bytes(json.to_string().into_bytes().into())
}

/// Empty for an unknown status, as RFC 9112 allows.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        418 => "I'm a teapot",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        507 => "Insufficient Storage",
        508 => "Loop Detected",
        511 => "Network Authentication Required",
        _ => "",
    }
}
