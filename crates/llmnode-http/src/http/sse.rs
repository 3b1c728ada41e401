//! Decodes server-sent events, as the HTML standard defines them, from bytes that
//! arrive in any pieces.
//!
//! Two deviations from the standard, because servers need them: an event that lacks
//! its empty line is passed on at the end of the body, and JSON that stands between
//! events without a field name is kept, as some of Google's errors come so.

use std::ops::ControlFlow;

use memchr::memchr2;

use super::error_body::has_error;

/// The data of one event. `is_complete`: its empty line came, so nothing is missing
/// of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) is_error: bool,
    pub(crate) is_complete: bool,
}

/// Looks at each byte once, and keeps only the event in progress.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// A line of which the end has not come.
    line: Vec<u8>,
    /// Of the event in progress. `None`: it has no line of data yet.
    data: Option<Vec<u8>>,
    /// Lines of no field that may be JSON.
    json_since_data: Vec<u8>,
    is_error: bool,
    /// After a carriage return: a following line feed belongs to it.
    after_return: bool,
    /// Only the first line may have a byte order mark.
    begun: bool,
    data_bytes: usize,
}

impl Decoder {
    /// `take` is called for each event that is whole. Lines that are within one
    /// piece are not copied.
    pub(crate) fn push<B>(
        &mut self,
        mut bytes: &[u8],
        mut take: impl FnMut(Event<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if bytes.is_empty() {
            return ControlFlow::Continue(());
        }
        if std::mem::take(&mut self.after_return) {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(at) = memchr2(b'\n', b'\r', bytes) {
            let (line, rest) = bytes.split_at(at);
            bytes = &rest[1..];
            if rest[0] == b'\r' {
                self.after_return = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
            if self.line.is_empty() {
                self.end_line(line, &mut take)?;
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.end_line(&whole, &mut take)?;
                whole.clear();
                self.line = whole;
            }
        }
        self.line.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }

    /// Also passes on an event that lacks its empty line, and an error that Google
    /// sends as plain JSON.
    pub(crate) fn end<B>(
        &mut self,
        mut take: impl FnMut(Event<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line, &mut take)?;
        }
        self.end_event(false, &mut take)?;
        let data = std::mem::take(&mut self.json_since_data);
        if has_error(&data) {
            take(Event {
                data: &data,
                is_error: true,
                is_complete: true,
            })?;
        }
        ControlFlow::Continue(())
    }

    /// How much memory it takes, for the cap.
    pub(crate) fn buffered(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, Vec::len) + self.json_since_data.len()
    }

    /// How much data came in all: comments, which servers send to keep a connection
    /// open, do not count.
    pub(crate) fn data_bytes(&self) -> usize {
        self.data_bytes
    }

    /// A field with its value, or an empty line, which ends the event.
    ///
    /// Fields of the connection (`id`, `retry`, comments) mean nothing here: an answer
    /// that broke off is asked for anew, and not taken up where it ended.
    fn end_line<B>(
        &mut self,
        line: &[u8],
        take: &mut impl FnMut(Event<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let line = if std::mem::replace(&mut self.begun, true) {
            line
        } else {
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        };
        if line.is_empty() {
            return self.end_event(true, take);
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                self.data_bytes += value.len();
                self.json_since_data.clear();
                match &mut self.data {
                    Some(data) => {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                    None => self.data = Some(value.to_vec()),
                }
            }
            b"event" => self.is_error = value == b"error",
            b"" | b"id" | b"retry" => {}
            _ if self.data.is_some() => {}
            _ if !self.json_since_data.is_empty()
                || line.starts_with(b"{")
                || line.starts_with(b"[") =>
            {
                self.json_since_data.extend_from_slice(line);
                self.json_since_data.push(b'\n');
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Passes on the event in progress. One without data is none: servers send such
    /// to keep a connection open.
    fn end_event<B>(
        &mut self,
        is_complete: bool,
        take: &mut impl FnMut(Event<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let is_error = std::mem::take(&mut self.is_error);
        match self.data.take() {
            Some(data) if !data.is_empty() => take(Event {
                data: &data,
                is_error,
                is_complete,
            }),
            _ => ControlFlow::Continue(()),
        }
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// How a body begins that is still coming. What is known to be blank is not looked at again.
#[derive(Debug, Default)]
pub(crate) struct Begin {
    blank: usize,
}

impl Begin {
    /// Whether the body is one of events. `None`: that is not clear yet.
    pub(crate) fn is_event_stream(&mut self, body: &[u8]) -> Option<bool> {
        const FIELDS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
        if self.blank == 0 && body.starts_with(BYTE_ORDER_MARK) {
            self.blank = BYTE_ORDER_MARK.len();
        }
        let rest = body[self.blank..].trim_ascii_start();
        self.blank = body.len() - rest.len();
        if FIELDS.iter().any(|field| rest.starts_with(field)) {
            return Some(true);
        }
        let may_be_field = FIELDS.iter().any(|field| field.starts_with(rest));
        if may_be_field || BYTE_ORDER_MARK.starts_with(rest) {
            return None;
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<(String, bool, bool)> {
        let mut found = Vec::new();
        let mut decoder = Decoder::default();
        let mut take = |event: Event<'_>| -> ControlFlow<()> {
            let data = String::from_utf8_lossy(event.data).into_owned();
            found.push((data, event.is_error, event.is_complete));
            ControlFlow::Continue(())
        };
        for piece in pieces {
            assert!(decoder.push(piece, &mut take).is_continue());
        }
        assert!(decoder.end(&mut take).is_continue());
        found
    }

    fn event(data: &str) -> (String, bool, bool) {
        (data.to_owned(), false, true)
    }

    const BODIES: [&str; 9] = [
        "data: {\"a\":1}\n\ndata: {\"b\":2}\n\ndata: [DONE]\n\n",
        "\u{feff}: hello\r\n\r\ndata:one\r\ndata: two\r\nid: 7\r\n\r\ndata: three\r\n\r\n",
        "data: one\r\rdata: two\rdata:  three\r\r",
        "event: error\ndata: {\"message\":\"busy\"}\n\nevent: message\ndata: x\n\n",
        ": ping\n\n: ping\n\ndata: a\n: ping\ndata: b\n\n",
        "data\ndata: x\n\ndata:\n\nretry: 5\n\ndata: last",
        "data: é\u{1F600}\n\nnothing: y\ndata: z\n\r\n",
        "\r\n\n\r\rdata: a\n\ndata: b\r\n\r\n",
        "data: a line of more than thirty-two bytes, and of more than\ndata: sixty-four of them, \
         with the\r\n\r\ndata: x\n\n",
    ];

    #[test]
    fn what_the_standard_says() {
        let of = |body: &str| events([body.as_bytes()]);
        assert_eq!(of(BODIES[1]), [event("one\ntwo"), event("three")]);
        assert_eq!(of(BODIES[2]), [event("one"), event("two\n three")]);
        assert_eq!(
            of(BODIES[3]),
            [
                ("{\"message\":\"busy\"}".to_owned(), true, true),
                event("x")
            ]
        );
        assert_eq!(of(BODIES[4]), [event("a\nb")]);
        let long =
            "a line of more than thirty-two bytes, and of more than\nsixty-four of them, with the";
        assert_eq!(of(BODIES[8]), [event(long), event("x")]);
        assert_eq!(
            of(BODIES[5]),
            [event("\nx"), ("last".to_owned(), false, false)]
        );
    }

    #[test]
    fn an_error_as_plain_json_is_the_last_event() {
        let error = "{\n  \"error\": {\n    \"id\": 7\n  }\n}\n";
        for (body, expected) in [
            (format!("data: a\n\n{error}"), Some(error.to_owned())),
            (
                format!("data: a\n\n[{error}]\r\n\r\n: ping\n\n"),
                Some(format!("[{error}]\n")),
            ),
            (format!("data: a\n\nid: 7\n{error}data: b\n\n"), None),
            ("data: a\n\n{\"error\": null}\n".to_owned(), None),
            ("data: a\n\n{\"text\": 1}\n[\n".to_owned(), None),
            ("data: a\n\n{\"error\": {\n".to_owned(), None),
        ] {
            let error = events([body.as_bytes()])
                .into_iter()
                .find(|(_, is_error, _)| *is_error);
            assert_eq!(error, expected.map(|data| (data, true, true)), "{body}");
            assert_eq!(
                events(body.as_bytes().chunks(1)),
                events([body.as_bytes()]),
                "{body}"
            );
        }
        let mut decoder = Decoder::default();
        let push = decoder.push(&b"{\n".repeat(100), |_| ControlFlow::<()>::Continue(()));
        assert!(push.is_continue() && decoder.buffered() == 200);
    }

    #[test]
    fn it_does_not_matter_where_the_bytes_are_split() {
        for body in BODIES.map(str::as_bytes) {
            let whole = events([body]);
            assert_eq!(events(body.chunks(1)), whole);
            for first in 0..=body.len() {
                for second in first..=body.len() {
                    let pieces = [&body[..first], &body[first..second], &body[second..]];
                    assert_eq!(events(pieces), whole, "{first} {second}");
                }
            }
        }
    }

    #[test]
    fn how_events_begin() {
        for (body, expected) in [
            ("", None),
            ("\u{feff} \r\n", None),
            ("dat", None),
            ("data:", Some(true)),
            ("\n: comment", Some(true)),
            ("{\"data:\"", Some(false)),
            ("<html>", Some(false)),
            ("data ", Some(false)),
        ] {
            let body = body.as_bytes();
            assert_eq!(Begin::default().is_event_stream(body), expected, "{body:?}");
            let mut begin = Begin::default();
            let known = (0..=body.len()).find_map(|length| begin.is_event_stream(&body[..length]));
            assert_eq!(known, expected, "{body:?}, byte by byte");
        }
    }
}
