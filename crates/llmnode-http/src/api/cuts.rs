//! For tests: the result of a stream, wherever the network cuts its bytes.

use std::ops::ControlFlow;

use llmnode_model::{Delta, Sink, TokenUsage};
use llmnode_reader::Flag;
use serde_json::Value;

use super::expected_calls::ExpectedCalls;
use super::halves::{Shown, read_body, read_event, resolve};
use super::read_answer::{ReadAnswer, Unreadable};
use super::wire::{End, StreamedAnswer, Wire};
use crate::http::sse::{Decoder, Event};

/// What somebody who reads along sees.
#[derive(Default)]
struct Seen {
    deltas: String,
    /// It is reported between reads, and so more often in a stream that is cut.
    usage: Option<TokenUsage>,
}

impl Sink for Seen {
    fn request_id(&mut self, _: &str) {}
    fn usage(&mut self, usage: TokenUsage) {
        self.usage = Some(usage);
    }
    fn flag(&mut self, flag: Flag) {
        self.deltas += &format!("{flag:?}\n");
    }
    fn delta(&mut self, delta: Delta<'_>) {
        self.deltas += &format!(
            "{} {}\n",
            matches!(delta, Delta::Reasoning(_)),
            delta.text()
        );
    }
}

impl Seen {
    fn shown(self) -> String {
        format!("{}{:?}", self.deltas, self.usage)
    }
}

const WANTED: ExpectedCalls<'_> = ExpectedCalls {
    function: None,
    tools: true,
    limit: Some(20),
};

/// The result of a body in these pieces, and what a listener sees.
fn read<'b>(wire: &Wire, pieces: impl IntoIterator<Item = &'b [u8]>) -> (String, String) {
    let mut decoder = Decoder::default();
    let mut written = (wire.stream)();
    let mut seen = Seen::default();
    let mut sink = Shown::new(&mut seen);
    let mut ended = None;
    for piece in pieces {
        let read = decoder.push(piece, |event| {
            read_event(&mut *written, event, WANTED, &mut sink)
        });
        written.flush(&mut sink);
        if let ControlFlow::Break(end) = read {
            ended = Some(end);
            break;
        }
    }
    if ended.is_none() {
        ended = decoder
            .end(|event| read_event(&mut *written, event, WANTED, &mut sink))
            .break_value();
    }
    sink.end();
    let has_marks = sink.has_marks();
    (
        shown(wire, ended.unwrap_or(End::Complete), written, has_marks),
        seen.shown(),
    )
}

/// The result of a body that came whole.
pub(crate) fn whole(wire: &Wire, body: &str) -> String {
    let end = End::Body(body.as_bytes().to_vec());
    shown(wire, end, (wire.stream)(), false)
}

fn shown(wire: &Wire, end: End, written: Box<dyn StreamedAnswer>, has_marks: bool) -> String {
    let read = match end {
        End::Failure(failure) => return format!("{failure:?}"),
        End::Body(body) => read_body(&body, has_marks, WANTED, wire.read),
        End::Complete if has_marks => resolve(written.finish(WANTED)),
        End::Complete => written.finish(WANTED),
    };
    match read {
        Ok(ReadAnswer {
            completion,
            parts,
            flags,
            ..
        }) => {
            format!(
                "{completion:?} {} {:?} {parts:?} {flags:?}",
                completion.text, completion.reasoning
            )
        }
        Err(Unreadable::Failure(failure) | Unreadable::Rejected(failure, _)) => {
            format!("{failure:?}")
        }
        Err(_) => "an error".to_owned(),
    }
}

/// What comes of these events in one piece, as a text to compare with that of other cuts.
pub(crate) fn events(wire: &Wire, events: &[&str]) -> String {
    read(
        wire,
        [events
            .iter()
            .map(|event| format!("data: {event}\n\n"))
            .collect::<String>()
            .as_bytes()],
    )
    .0
}

pub(crate) fn is_complete(wire: &Wire, events: &[&str]) -> bool {
    unfinished(wire, events).is_complete()
}

pub(crate) fn usage(wire: &Wire, events: &[&str]) -> Option<TokenUsage> {
    unfinished(wire, events).usage()
}

fn unfinished(wire: &Wire, events: &[&str]) -> Box<dyn StreamedAnswer> {
    let mut written = (wire.stream)();
    for data in events.iter().map(|event| event.as_bytes()) {
        let event = Event {
            data,
            is_error: false,
            is_complete: true,
        };
        assert!(
            written
                .read(event, WANTED, &mut Seen::default())
                .is_continue()
        );
    }
    written
}

pub(crate) fn come_to_the_same(wire: &Wire, body: &[u8]) {
    let whole = read(wire, [body]);
    // Each single place, and each pair of about 60 places.
    let step = (body.len() / 60).max(1);
    for first in 0..=body.len() {
        let (one, rest) = body.split_at(first);
        assert_eq!(read(wire, [one, rest]), whole, "{first}");
        for second in (0..=rest.len()).step_by(step).filter(|_| first % step == 0) {
            assert_eq!(
                read(wire, [one, &rest[..second], &rest[second..]]),
                whole,
                "{first} {second}"
            );
        }
    }
}

/// Recorded bodies are kept outside of the repository.
pub(crate) fn of_recorded_bodies_come_to_the_same(wire: &Wire, name: &str) {
    let Some(folder) = std::env::var_os("LLMNODE_CASES") else {
        return;
    };
    let rows = std::fs::read_to_string(std::path::Path::new(&folder).join("wires.jsonl")).unwrap();
    for row in rows
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
    {
        if row["wire"] == name && row["kind"] == "sse" {
            come_to_the_same(wire, row["body"].as_str().unwrap().as_bytes());
        }
    }
}
