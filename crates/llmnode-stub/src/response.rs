//! Turns a reply into what goes over the wire.

use std::sync::Arc;

use super::completion::{self, Filler};
use super::events::events;
use super::log::{LoggedRequest, TokenCounts};
use super::reply::{Content, StubReply};

const EVENTS: &str = "text/event-stream";

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
        let json = "application/json";
        if let Content::Bytes { status, content_type, body, usage } = &reply.content {
            let body = Body::Bytes(Arc::clone(body));
            return Some(Self { status: *status, headers, content_type, body, usage: *usage });
        }
        if let Content::Stream(pieces) = &reply.content {
            let body = Body::Pieces(Arc::clone(pieces));
            return Some(Self { status: 200, headers, content_type: EVENTS, body, usage: None });
        }
        let (body, usage) = if let Content::Filler(bytes) = reply.content {
            let (filler, usage) = completion::filler_completion(reply, bytes, request);
            (Body::Filler(filler), usage)
        } else {
            let (body, usage) = completion::for_request(reply, request)?;
            let asked = request.json().filter(|asked| asked["stream"] == true);
            if let Some(events) = asked.and_then(|asked| events(&body, reply, asked)) {
                let body = Body::Pieces(events.into());
                return Some(Self { status: 200, headers, content_type: EVENTS, body, usage });
            }
            (Body::Bytes(body.into()), usage)
        };
        Some(Self { status: 200, headers, content_type: json, body, usage })
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// RFC 9110, 6.4.1.
    pub(super) fn may_have_body(&self) -> bool {
        !matches!(self.status, 100..=199 | 204 | 304)
    }

    pub(super) fn write_head(&self, out: &mut Vec<u8>, request_id: &str, close: bool) {
        let mut line = |parts: [&str; 3]| {
            parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
            out.extend_from_slice(b"\r\n");
        };
        line(["HTTP/1.1 ", &format!("{:03} ", self.status), reason(self.status)]);
        if self.may_have_body() {
            self.default_header("content-type", self.content_type, &mut line);
            if matches!(self.body, Body::Pieces(_)) {
                self.default_header("transfer-encoding", "chunked", &mut line);
            } else if self.header("transfer-encoding").is_none() {
                self.default_header("content-length", &self.body.len().to_string(), &mut line);
            }
        }
        self.default_header("x-request-id", request_id, &mut line);
        if close {
            self.default_header("connection", "close", &mut line);
        }
        for (name, value) in &self.headers {
            line([name, ": ", value]);
        }
        line(["", "", ""]);
    }

    fn default_header(&self, name: &str, value: &str, line: &mut impl FnMut([&str; 3])) {
        if self.header(name).is_none() {
            line([name, ": ", value]);
        }
    }
}

impl Body {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Pieces(pieces) => pieces.iter().map(|piece| piece.len() as u64).sum(),
            Self::Filler(f) => f.bytes.saturating_add((f.before.len() + f.after.len()) as u64),
        }
    }
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
