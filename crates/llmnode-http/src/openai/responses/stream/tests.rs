use serde_json::Value;

use super::super::answer;
use super::*;
use crate::http::sse::Decoder;
use crate::openai::answer::ReadAnswer;

struct Unseen;

impl Sink for Unseen {
    fn request_id(&mut self, _: &str) {}
    fn usage(&mut self, _: TokenUsage) {}
}

const WANTED: ExpectedCalls<'_> = ExpectedCalls { function: None, tools: true, limit: Some(20) };

/// What a body in these pieces comes to.
fn read<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> String {
    let (mut decoder, mut written) = (Decoder::default(), Box::<PartialResponse>::default());
    for piece in pieces {
        if let ControlFlow::Break(end) = decoder.push(piece, |event| written.read(event, WANTED, &mut Unseen))
        {
            return shown(end, written);
        }
    }
    match decoder.end(|event| written.read(event, WANTED, &mut Unseen)) {
        ControlFlow::Break(end) => shown(end, written),
        ControlFlow::Continue(()) => shown(Ok(()), written),
    }
}

fn shown(end: Result<(), ModelError>, written: Box<PartialResponse>) -> String {
    let read = match end.map(|()| written.finish(WANTED)) {
        Err(failure) => return format!("{failure:?}"),
        Ok(Err(body)) => answer::read(&body, WANTED),
        Ok(Ok(read)) => read,
    };
    match read {
        Ok(ReadAnswer { completion, parts, flags }) => {
            format!("{completion:?} {} {:?} {parts:?} {flags:?}", completion.text, completion.reasoning)
        }
        Err(Unreadable::Failure(failure)) => format!("{failure:?}"),
        Err(_) => "an error".to_owned(),
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

const PIECE: &str = r#"{"type":"response.output_text.delta","output_index":0,"delta":"é\n"}"#;
const DONE: &str = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"a","content":[{"type":"output_text","text":"é\n"}]}}"#;
const BARE: &str = r#"{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":3,"output_tokens":2}}}"#;
const END: &str = r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","id":"b","content":[{"type":"output_text","text":"The end."}]}]}}"#;

#[test]
fn cuts_anywhere_come_to_the_same() {
    for body in [
        format!("event: x\ndata: {PIECE}\n\ndata: {DONE}\n\ndata: {END}\n\n"),
        format!("data: {PIECE}\r\n\r\ndata: {BARE}"),
        format!("data: {PIECE}\n\nevent: error\ndata: {{\"type\":\"error\",\"code\":\"server_error\"}}\n\n"),
        format!("data: {PIECE}\n\n"),
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
        if row["wire"] == "responses" && row["kind"] == "sse" {
            all_cuts(row["body"].as_str().unwrap().as_bytes());
        }
    }
}

fn with(events: &[&str]) -> String {
    read([events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().as_bytes()])
}

/// W21.
#[test]
fn the_last_event_counts_and_may_leave_its_items_to_the_others() {
    let shown = with(&[PIECE, DONE, END]);
    assert!(shown.contains("The end.") && !shown.contains('é'), "{shown}");
    let shown = with(&[PIECE, DONE, BARE]);
    assert!(shown.contains('é') && shown.contains("finish: Some(Stop)"), "{shown}");
    assert!(with(&[PIECE, DONE]).contains("network"));
}

/// W22.
#[test]
fn at_the_limit_an_answer_without_details_is_cut() {
    let end = |output: u64, details: &str| {
        let body = format!(
            r#"{{"type":"response.completed","response":{{"status":"completed",{details}"output":[],"usage":{{"input_tokens":1,"output_tokens":{output}}}}}}}"#
        );
        with(&[&body])
    };
    assert!(end(20, "").contains("finish: Some(Length)"));
    assert!(end(19, "").contains("finish: Some(Stop)"));
    assert!(end(20, r#""incomplete_details":null,"#).contains("finish: Some(Stop)"));
}

#[test]
fn hostile_events_do_no_harm() {
    for events in [
        &["7"][..],
        &["null"],
        &["{}"],
        &["[]"],
        &[r#"{"type":"response.completed"}"#],
        &[r#"{"type":"response.completed","response":7}"#],
        &[r#"{"type":"response.output_item.added","output_index":-1,"item":7}"#, BARE],
        &[r#"{"type":"response.output_item.done","output_index":18446744073709551615,"item":7}"#, BARE],
        &[
            r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":7,"output":{}}}"#,
        ],
        &[
            r#"{"type":"response.failed","response":{"output":[7,{},{"type":"function_call","arguments":{}}]}}"#,
        ],
        &[
            r#"{"type":"response.completed","response":{"output":[{"type":"message","content":[7,{"text":7}]},{"type":"reasoning","summary":7}]}}"#,
        ],
    ] {
        assert!(!with(events).is_empty());
    }
}
