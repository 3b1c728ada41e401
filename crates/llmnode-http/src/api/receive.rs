//! The body of a response: one piece of JSON, or events.
//!
//! Whether it is one or the other is seen from the first bytes and not from
//! `Content-Type`, which many servers set wrong. From then on the timeouts differ:
//! one piece may take as long as the attempt, while events have to come.

use std::ops::ControlFlow;

use llmnode_model::{Category, ModelError, Sink, TokenUsage};

use super::halves::{Shown, read_event};
use super::inner::Inner;
use super::padding::estimate_unreported;
use super::prepared_request::PreparedRequest;
use super::wire::{End, StreamedAnswer};
use crate::http::body::ResponseBody as IncomingBody;
use crate::http::incoming::Incoming;
use crate::http::sse::{Begin, Decoder};
use crate::http::usage::larger;

/// A body in one piece may follow events: a server that fails in the middle of a
/// stream.
pub(crate) enum ResponseBody {
    Full {
        body: Vec<u8>,
        /// What a stream has reported before.
        usage: Option<TokenUsage>,
        /// About how many tokens of an answer it has written before.
        answered: Option<u64>,
        /// Whether it stands in a stream whose [halves](super::halves) are marked.
        has_marks: bool,
    },
    Events {
        written: Box<dyn StreamedAnswer>,
        has_marks: bool,
    },
}

impl Inner {
    /// Some servers stream without being asked, and others do not although asked:
    /// the first bytes decide.
    pub(crate) async fn body(
        &self,
        response: &mut IncomingBody,
        prepared: &PreparedRequest<'_>,
        sink: &mut dyn Sink,
    ) -> Result<ResponseBody, ModelError> {
        let service = &self.service;
        let length = response.length();
        if length.is_some_and(|length| length > service.body_cap as u64) {
            return Err(service.over_cap());
        }
        // The announced length is not trusted: the buffer grows as bytes arrive.
        let mut body =
            Vec::with_capacity(length.map_or(0, |length| length.min(64 * 1024) as usize));
        let mut incoming = service.incoming(response, prepared.deadline);
        incoming.set_idle_timeout(service.idle_timeout.filter(|_| prepared.streams));
        let mut begin = Begin::default();
        let mut is_event_stream = None;
        while let Some(bytes) = incoming.next().await? {
            if body.len() + bytes.len() > service.body_cap {
                return Err(service.over_cap());
            }
            body.extend_from_slice(&bytes);
            is_event_stream = is_event_stream.or_else(|| begin.is_event_stream(&body));
            match is_event_stream {
                Some(true) => {
                    // Boxed, so that a body in one piece has no room for it.
                    let events = Box::pin(self.events(body, incoming, prepared, sink));
                    return events.await;
                }
                Some(false) => incoming.set_idle_timeout(None),
                None => {}
            }
        }
        Ok(ResponseBody::Full {
            body,
            usage: None,
            answered: None,
            has_marks: false,
        })
    }

    /// Ends with the stream's own end, with an error in it, or with the connection.
    /// A connection that breaks behind a complete answer has cost nothing.
    async fn events(
        &self,
        begin: Vec<u8>,
        mut incoming: Incoming<'_>,
        prepared: &PreparedRequest<'_>,
        sink: &mut dyn Sink,
    ) -> Result<ResponseBody, ModelError> {
        incoming.begin_stream(self.service.idle_timeout, self.service.thinking_timeout);
        let mut decoder = Decoder::default();
        let mut written = (self.wire.stream)();
        let expected = prepared.expected_calls();
        let mut shown = Shown::new(sink);
        let sink = &mut shown;
        let mut read = decoder.push(&begin, |event| {
            read_event(&mut *written, event, expected, sink)
        });
        drop(begin);
        if written.content() > 0 {
            incoming.content_came();
        }
        loop {
            written.flush(sink);
            if let ControlFlow::Break(end) = read {
                if !matches!(end, End::Failure(_)) {
                    // A connection can only be used again if its body was read to
                    // the end.
                    incoming.drain().await;
                }
                return ended(end, written, sink);
            }
            let cap = self.service.body_cap;
            if decoder.buffered() > cap {
                return Err(with_usage_so_far(self.service.over_cap(), &*written));
            }
            if written.len() > cap {
                let message = format!("the answer is longer than {cap} bytes (max_body_bytes)");
                return Err(with_usage_so_far(
                    ModelError::new(Category::TruncatedOutput, message),
                    &*written,
                ));
            }
            let data_bytes = decoder.data_bytes();
            let content = written.content();
            read = match incoming.next().await {
                Ok(Some(bytes)) => decoder.push(&bytes, |event| {
                    read_event(&mut *written, event, expected, sink)
                }),
                Err(failure) if !written.is_complete() => {
                    return Err(with_usage_so_far(failure, &*written));
                }
                outcome => {
                    if outcome.is_err() {
                        estimate_unreported(written.usage(), sink);
                    }
                    let end = decoder.end(|event| read_event(&mut *written, event, expected, sink));
                    return ended(end.break_value().unwrap_or(End::Complete), written, sink);
                }
            };
            // Once the model writes, an event without content may come from a
            // server whose model is dead.
            if written.content() > content {
                incoming.content_came();
            } else if decoder.data_bytes() > data_bytes && written.works_silently() {
                incoming.event_came();
            }
        }
    }
}

/// `shown`: what a listener has seen; halves of characters that wait are shown.
fn ended(
    end: End,
    written: Box<dyn StreamedAnswer>,
    shown: &mut Shown<'_>,
) -> Result<ResponseBody, ModelError> {
    shown.end();
    let has_marks = shown.has_marks();
    match end {
        End::Complete => Ok(ResponseBody::Events { written, has_marks }),
        End::Body(body) => {
            let usage = written.usage();
            let answered = written.answered();
            Ok(ResponseBody::Full {
                body,
                usage,
                answered,
                has_marks,
            })
        }
        End::Failure(failure) => Err(with_usage_so_far(failure, &*written)),
    }
}

/// What broke off is billed as well.
fn with_usage_so_far(mut failure: ModelError, written: &dyn StreamedAnswer) -> ModelError {
    failure.usage = larger(failure.usage.as_deref().copied(), written.usage()).map(Box::new);
    failure.set_answered(written.answered());
    failure
}
