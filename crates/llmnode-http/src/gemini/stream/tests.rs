use serde_json::Value;

use super::*;
use crate::http::sse::Decoder;
use crate::openai::answer::ReadAnswer;

struct Unseen;

impl Sink for Unseen {
    fn request_id(&mut self, _: &str) {}
    fn usage(&mut self, _: TokenUsage) {}
}

/// What a body in these pieces comes to.
fn read<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> String {
    let wanted = ExpectedCalls { tools: true, ..ExpectedCalls::default() };
    let (mut decoder, mut written) = (Decoder::default(), Box::<PartialAnswer>::default());
    for piece in pieces {
        if let ControlFlow::Break(end) = decoder.push(piece, |event| written.read(event, wanted, &mut Unseen))
        {
            return shown(end, written, wanted);
        }
    }
    match decoder.end(|event| written.read(event, wanted, &mut Unseen)) {
        ControlFlow::Break(end) => shown(end, written, wanted),
        ControlFlow::Continue(()) => shown(Ok(()), written, wanted),
    }
}

fn shown(end: Result<(), ModelError>, written: Box<PartialAnswer>, wanted: ExpectedCalls<'_>) -> String {
    match end.map(|()| written.finish(wanted)) {
        Err(failure) => format!("{failure:?}"),
        Ok(Err(body)) => String::from_utf8_lossy(&body).into_owned(),
        Ok(Ok(Ok(ReadAnswer { completion, parts, flags }))) => {
            format!("{completion:?} {} {:?} {parts:?} {flags:?}", completion.text, completion.reasoning)
        }
        Ok(Ok(Err(Unreadable::Failure(failure)))) => format!("{failure:?}"),
        Ok(Ok(Err(_))) => "no answer".to_owned(),
    }
}

fn all_cuts(body: &[u8]) {
    let whole = read([body]);
    // Every place for short bodies, else about 60 of them.
    let step = (body.len() / 60).max(1);
    for first in (0..=body.len()).step_by(if body.len() < 3000 { 1 } else { step }) {
        let (one, rest) = body.split_at(first);
        assert_eq!(read([one, rest]), whole, "{first}");
        for second in (0..=rest.len()).step_by(step) {
            assert_eq!(read([one, &rest[..second], &rest[second..]]), whole, "{first} {second}");
        }
    }
}

const PIECE: &str = r#"{"candidates":[{"content":{"parts":[{"text":"é\n"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":3,"totalTokenCount":3}}"#;
const CALL: &str = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1.0}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}]}"#;

#[test]
fn cuts_anywhere_come_to_the_same() {
    for body in [
        format!("data: {PIECE}\n\ndata: {CALL}\n\ndata: {PIECE}\n\n"),
        format!("data: {PIECE}\r\n\r\ndata: {CALL}"),
        format!("data: {PIECE}\n\ndata: {{\"error\":{{\"code\":503,\"status\":\"UNAVAILABLE\"}}}}\n\n"),
        format!("data: {PIECE}\n\n"),
        "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n".to_owned(),
        "data: [DONE]\n\n".to_owned(),
    ] {
        all_cuts(body.as_bytes());
    }
}

/// Recorded bodies are kept outside of the repository.
#[test]
fn cuts_of_recorded_bodies_come_to_the_same() {
    let Some(folder) = std::env::var_os("LLMNODE_CASES") else { return };
    let rows = std::fs::read_to_string(std::path::Path::new(&folder).join("wires.jsonl")).unwrap();
    for row in rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        if row["wire"] == "gemini" && row["kind"] == "sse" {
            all_cuts(row["body"].as_str().unwrap().as_bytes());
        }
    }
}

#[test]
fn hostile_events_do_no_harm() {
    let with = |events: &[&str]| {
        read([events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().as_bytes()])
    };
    for events in [
        &["7"][..],
        &["null"],
        &["{}"],
        &["[]"],
        &[r#"{"candidates":7,"promptFeedback":[],"usageMetadata":"a"}"#],
        &[r#"{"candidates":[7,{"index":-1},{"content":7},{"content":{"parts":{}}}]}"#],
        &[
            r#"{"candidates":[{"content":{"parts":[7,{},{"text":7},{"functionCall":7},{"thought":true}]},"finishReason":"STOP"}]}"#,
        ],
        &[r#"{"candidates":[{"finishReason":7}],"promptFeedback":{"blockReason":"A"}}"#],
    ] {
        assert!(!with(events).is_empty());
    }
    let other = r#"{"candidates":[{"content":{"parts":[{"text":"no"}]},"index":1}]}"#;
    let shown = with(&[PIECE, other, CALL]);
    assert!(shown.contains("other_choices") && !shown.contains("no\n"), "{shown}");
}
