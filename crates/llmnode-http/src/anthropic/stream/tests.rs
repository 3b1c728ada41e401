use llmnode_model::TokenUsage;

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
    let wanted = ExpectedCalls { function: None, tools: true, limit: None };
    let (mut decoder, mut written) = (Decoder::default(), Box::<PartialMessage>::default());
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

fn shown(end: Result<(), ModelError>, written: Box<PartialMessage>, wanted: ExpectedCalls<'_>) -> String {
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

#[test]
fn cuts_anywhere_come_to_the_same() {
    let start = r#"{"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":3}}}"#;
    let block = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    let piece = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"é\n"}}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#;
    for body in [
        format!(
            "data: {start}\n\ndata: {block}\n\ndata: {piece}\n\ndata: {end}\n\ndata: {{\"type\":\"message_stop\"}}\n\n"
        ),
        format!("event: message_start\r\ndata: {start}\r\n\r\ndata: {piece}\r\n\r\ndata: {end}"),
        format!(
            "data: {start}\n\nevent: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"overloaded_error\"}}}}\n\n"
        ),
        format!("data: {start}\n\ndata: {piece}\n\n"),
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
        if row["wire"] == "anthropic" && row["kind"] == "sse" {
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
        &[r#"{"type":"content_block_delta","index":-1,"delta":{"text":"a"}}"#],
        &[r#"{"type":"content_block_start","index":18446744073709551615,"content_block":7}"#],
        &[r#"{"type":"message_start","message":"a"}"#, r#"{"type":"message_delta","delta":7,"usage":[]}"#],
        &[r#"{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"category":7}}}"#],
        &[r#"{"type":"content_block_delta","index":0,"delta":{"citation":1,"citations":"a"}}"#],
    ] {
        assert!(!with(events).is_empty());
    }
}
