//! Parses the head of an HTTP/1.x request. Strict: what is not plainly HTTP gets a 400, never a guess.

use super::headers::LoggedHeaders;

/// Request line and headers together.
pub(super) const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 256;

/// Answered before the connection is closed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadRequest {
    pub(super) status: u16,
    pub(super) message: String,
}

impl BadRequest {
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: LoggedHeaders,
    pub(super) framing: Framing,
    pub(super) keep_alive: bool,
    pub(super) expects_continue: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
}

impl Default for Framing {
    fn default() -> Self {
        Self::Length(0)
    }
}

/// `scanned`: bytes searched before. `Ok(None)`: the end has not arrived.
pub(super) fn head_end(buf: &[u8], scanned: usize) -> Result<Option<usize>, BadRequest> {
    if buf.first().is_some_and(|&b| !is_token(b)) {
        // Refused at once: a TLS handshake has no line end to wait for.
        return Err(BadRequest::new(
            400,
            "this is not an HTTP request (https sent to an http port?)",
        ));
    }
    let from = scanned.saturating_sub(3);
    for (at, &byte) in buf.iter().enumerate().skip(from) {
        if byte != b'\n' {
            continue;
        }
        if at == 0 || buf[at - 1] != b'\r' {
            return Err(BadRequest::new(
                400,
                "a line of the request's head ends in LF without CR",
            ));
        }
        if at >= 3 && buf[at - 3..at - 1] == *b"\r\n" {
            return check_head_size(at + 1).map(Some);
        }
    }
    check_head_size(buf.len()).map(|_| None)
}

fn check_head_size(length: usize) -> Result<usize, BadRequest> {
    if length <= MAX_HEAD {
        return Ok(length);
    }
    Err(BadRequest::new(
        431,
        format!("the request's head is longer than {MAX_HEAD} bytes"),
    ))
}

/// `bytes` includes the empty line.
pub(super) fn parse_head(bytes: &[u8]) -> Result<Head, BadRequest> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.trim_end_matches("\r\n").split("\r\n");
    let (method, target, version_11) = request_line(lines.next().unwrap_or_default())?;
    let mut headers = LoggedHeaders::default();
    for line in lines {
        if headers.len() == MAX_HEADERS {
            return Err(BadRequest::new(
                431,
                format!("more than {MAX_HEADERS} headers"),
            ));
        }
        let (name, value) = header_line(line)?;
        headers.push(name.to_owned(), value.to_owned());
    }
    let keep_alive = version_11 && !has_word(&headers, "connection", "close");
    let expects_continue = has_word(&headers, "expect", "100-continue");
    let framing = framing(&headers)?;
    Ok(Head {
        method,
        target,
        headers,
        framing,
        keep_alive,
        expects_continue,
    })
}

fn request_line(line: &str) -> Result<(String, String, bool), BadRequest> {
    let mut parts = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(bad_request_line());
    };
    let is_method = !method.is_empty() && method.bytes().all(is_token);
    let is_target = !target.is_empty() && target.chars().all(|c| !c.is_control());
    if !is_method || !is_target {
        return Err(bad_request_line());
    }
    match version {
        "HTTP/1.1" => Ok((method.to_owned(), target.to_owned(), true)),
        "HTTP/1.0" => Ok((method.to_owned(), target.to_owned(), false)),
        v if v.starts_with("HTTP/") => Err(BadRequest::new(
            505,
            "this server speaks HTTP/1.1 and HTTP/1.0 only",
        )),
        _ => Err(bad_request_line()),
    }
}

fn bad_request_line() -> BadRequest {
    BadRequest::new(400, "the request line is not `METHOD TARGET HTTP/1.1`")
}

fn bad_header_line() -> BadRequest {
    BadRequest::new(400, "a header line is not `Name: value`")
}

/// One of the words of a header, which commas separate.
fn has_word(headers: &LoggedHeaders, name: &str, word: &str) -> bool {
    headers.all(name).any(|value| {
        value
            .split(',')
            .any(|part| part.trim().eq_ignore_ascii_case(word))
    })
}

fn header_line(line: &str) -> Result<(&str, &str), BadRequest> {
    let (name, value) = line.split_once(':').ok_or_else(bad_header_line)?;
    let value = value.trim_matches([' ', '\t']);
    if name.is_empty()
        || !name.bytes().all(is_token)
        || value.chars().any(|c| c.is_control() && c != '\t')
    {
        return Err(bad_header_line());
    }
    Ok((name, value))
}

/// Ambiguous lengths are refused, as a server behind a proxy must (request smuggling).
fn framing(headers: &LoggedHeaders) -> Result<Framing, BadRequest> {
    let mut lengths = headers.all("content-length");
    let length = lengths.next();
    if lengths.any(|other| Some(other) != length) {
        return Err(BadRequest::new(
            400,
            "several different Content-Length headers",
        ));
    }
    match (headers.get("transfer-encoding"), length) {
        (Some(_), Some(_)) => Err(BadRequest::new(
            400,
            "both Content-Length and Transfer-Encoding are given",
        )),
        (Some(coding), None) if coding.eq_ignore_ascii_case("chunked") => Ok(Framing::Chunked),
        (Some(_), None) => Err(BadRequest::new(
            501,
            "the only known Transfer-Encoding is `chunked`",
        )),
        (None, Some(length))
            if !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit()) =>
        {
            // Digits that do not fit a u64 are a body larger than any cap.
            Ok(Framing::Length(length.parse().unwrap_or(u64::MAX)))
        }
        (None, Some(_)) => Err(BadRequest::new(400, "Content-Length is not a number")),
        (None, None) => Ok(Framing::Length(0)),
    }
}

/// `line` has no CRLF; extensions are ignored.
pub(super) fn chunk_size(line: &[u8]) -> Result<u64, BadRequest> {
    let digits = line
        .split(|&b| b == b';')
        .next()
        .unwrap_or_default()
        .trim_ascii();
    let size = std::str::from_utf8(digits)
        .ok()
        .filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_hexdigit()))
        .and_then(|d| u64::from_str_radix(d, 16).ok());
    size.ok_or_else(|| BadRequest::new(400, "a chunk's size is not a hexadecimal number"))
}

/// RFC 9110's `tchar`.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
