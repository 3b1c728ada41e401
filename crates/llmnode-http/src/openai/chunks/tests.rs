use llmnode_model::TokenUsage;
use llmnode_model::ext::CarriedPart;

use super::super::chat::CHAT;
use super::*;
use crate::api::cuts;
use crate::api::read_answer::ReadAnswer;
use crate::http::sse::Decoder;

/// What calls may be asked for.
const WANTED: [ExpectedCalls<'_>; 3] = [
    ExpectedCalls {
        function: None,
        tools: false,
        limit: None,
    },
    ExpectedCalls {
        function: Some("F"),
        tools: false,
        limit: None,
    },
    ExpectedCalls {
        function: Some("F"),
        tools: true,
        limit: None,
    },
];

/// What comes close to a stream.
const FRAGMENTS: [&str; 24] = [
    "data: ",
    "data:",
    "\n\n",
    "\r\n\r\n",
    "\n",
    "\r",
    ": ping",
    "event: error\n",
    "[DONE]",
    "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}",
    "{\"choices\":[{\"delta\":{\"reasoning\":\"hm\"},\"finish_reason\":\"stop\"}]}",
    "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"F\",\"arguments\":\"{\"}}]}}]}",
    "{\"choices\":[],\"usage\":{\"total_tokens\":-3}}",
    "{\"error\":{\"code\":429}}",
    "{\"choices\":",
    "[{\"delta\":",
    "null",
    "{}",
    "}]}",
    "\"",
    "\\ud83d",
    "\u{feff}",
    "\u{1F600}",
    "7",
];

#[derive(Default)]
struct Text(String);

impl Sink for Text {
    fn request_id(&mut self, _: &str) {}
    fn usage(&mut self, _: TokenUsage) {}
    fn delta(&mut self, delta: Delta<'_>) {
        if let Delta::Text(text) = delta {
            self.0 += text;
        }
    }
}

/// The result of a body in these pieces: its text, and how it ended.
fn read<'b>(
    pieces: impl IntoIterator<Item = &'b [u8]>,
    wanted: ExpectedCalls<'_>,
) -> (String, String) {
    let (mut decoder, mut written, mut text) = (
        Decoder::default(),
        PartialCompletion::default(),
        Text::default(),
    );
    for piece in pieces {
        match decoder.push(piece, |event| written.read(event, wanted, &mut text)) {
            ControlFlow::Continue(()) => {}
            ControlFlow::Break(end) => return (text.0, shown(end, written, wanted)),
        }
    }
    match decoder.end(|event| written.read(event, wanted, &mut text)) {
        ControlFlow::Break(end) => (text.0, shown(end, written, wanted)),
        ControlFlow::Continue(()) => (text.0, shown(End::Complete, written, wanted)),
    }
}

fn shown(end: End, written: PartialCompletion, wanted: ExpectedCalls<'_>) -> String {
    let read = match end {
        End::Failure(failure) => return format!("{failure:?}"),
        End::Body(body) => return String::from_utf8_lossy(&body).into_owned(),
        End::Complete => Box::new(written).finish(wanted),
    };
    match read {
        Ok(ReadAnswer {
            completion,
            parts,
            flags,
            ..
        }) => {
            format!("{completion:?} {} {parts:?} {flags:?}", completion.text)
        }
        Err(Unreadable::Failure(failure)) => format!("{failure:?}"),
        Err(_) => "no answer".to_owned(),
    }
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 27)
}

fn check(count: u32, state: &mut u64) {
    for number in 0..count {
        let fragments =
            (0..next(state) % 12).map(|_| FRAGMENTS[next(state) as usize % FRAGMENTS.len()]);
        let body = fragments.collect::<String>().into_bytes();
        let wanted = WANTED[number as usize % WANTED.len()];
        let whole = read([&body[..]], wanted);
        let at = next(state) as usize % (body.len() + 1);
        let (one, other) = body.split_at(at);
        assert_eq!(
            read([one, other], wanted),
            whole,
            "{number}, {at}: {:?}",
            String::from_utf8_lossy(&body)
        );
    }
}

#[test]
fn two_cuts_anywhere_come_to_the_same() {
    let [piece, end, call] = [FRAGMENTS[9], FRAGMENTS[10], FRAGMENTS[11]];
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#;
    for body in [
        format!("data: {piece}\n\ndata: {end}\n\ndata: {usage}\n\ndata: [DONE]\n\n"),
        format!("\u{feff}: hi\r\n\r\ndata:{piece}\r\n\r\ndata: {end}\r\n\r\n"),
        format!("data: {call}\r\rdata: {end}\r\r"),
        format!("data: {piece}\n\nevent: error\ndata: {{\"message\":\"busy\"}}\n\n"),
        format!(
            "data: {}\n\ndata: {end}",
            piece.replace('a', "\\ud83d\\ude00\u{1F600}")
        ),
        format!("data: {piece}\n\ndata: {{\"choices\":["),
        "data: [DONE]\n\n".to_owned(),
    ] {
        let body = body.as_bytes();
        assert!(body.len() <= 512);
        let whole = read([body], WANTED[1]);
        for first in 0..=body.len() {
            for second in first..=body.len() {
                let pieces = [&body[..first], &body[first..second], &body[second..]];
                assert_eq!(read(pieces, WANTED[1]), whole, "{first} {second}");
            }
        }
    }
}

#[test]
fn pieces_of_any_body_come_to_the_same() {
    check(20_000, &mut 1);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p llmnode-http chunks -- --ignored"]
fn ten_million_bodies_come_to_the_same() {
    check(10_000_000, &mut 2);
}

#[test]
fn a_piece_belongs_to_the_last_call_of_its_index_that_has_its_id_or_none_or_without_a_name_to_the_last()
 {
    let mut state = 7;
    for _ in 0..2_000 {
        // The ids of the calls by index, as they are looked for one by one.
        let (mut written, mut calls) = (
            PartialCompletion::default(),
            Vec::<(Option<u64>, String)>::new(),
        );
        for _ in 0..next(&mut state) % 12 {
            let index = [None, Some(0), Some(1)][next(&mut state) as usize % 3];
            let id = ["", "a", "b", "c"][next(&mut state) as usize % 4];
            let belongs = |(of, its): &(Option<u64>, String)| {
                *of == index && (id.is_empty() || its.is_empty() || its == id)
            };
            let is_named = next(&mut state).is_multiple_of(2);
            let last = || {
                let last = calls.iter().rposition(|(of, _)| *of == index);
                last.filter(|at| !is_named && !written.calls[*at].name.is_empty())
            };
            let at = calls
                .iter()
                .rposition(belongs)
                .or_else(last)
                .unwrap_or(calls.len());
            if at == calls.len() {
                calls.push((index, String::new()));
            }
            if calls[at].1.is_empty() {
                id.clone_into(&mut calls[at].1);
            }
            assert_eq!(written.call_position(index, id, is_named), at);
            written.calls[at]
                .name
                .push_str(if is_named { "f" } else { "" });
        }
        assert!(
            written
                .calls
                .iter()
                .map(|call| &call.id)
                .eq(calls.iter().map(|(_, id)| id))
        );
        assert!(
            written.len() >= calls.len(),
            "each call counts for the most bytes of an answer"
        );
    }
}

fn answer_of(events: &[&str]) -> ReadAnswer {
    let wanted = ExpectedCalls {
        function: None,
        tools: true,
        limit: None,
    };
    let mut written = PartialCompletion::default();
    for event in events {
        let event = Event {
            data: event.as_bytes(),
            is_error: false,
            is_complete: true,
        };
        assert!(
            written
                .read(event, wanted, &mut Text::default())
                .is_continue()
        );
    }
    match Box::new(written).finish(wanted) {
        Ok(read) => read,
        _ => panic!("no answer"),
    }
}

fn others(read: &ReadAnswer) -> Vec<&str> {
    let mut others = Vec::new();
    for part in &read.parts {
        if let CarriedPart::Other(json) = part {
            others.push(json.raw().get());
        }
    }
    others
}

const END: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;

/// Servers that send calls at once may number them all 0, or not at all, and give them no ids.
#[test]
fn calls_without_ids_that_come_at_once_are_apart() {
    for index in ["\"index\":0,", ""] {
        let event = |name: &str, arguments: &str| {
            format!(
                r#"{{"choices":[{{"delta":{{"tool_calls":[{{{index}"function":{{"name":"{name}","arguments":"{arguments}"}}}}]}}}}]}}"#
            )
        };
        let calls =
            [("f", r#"{\"x\":1}"#), ("f", r#"{\"x\":2}"#), ("g", "{}")].map(|(f, a)| event(f, a));
        let calls = answer_of(&[&calls[0], &calls[1], &calls[2], END])
            .completion
            .calls;
        let calls: Vec<_> = calls
            .iter()
            .map(|call| (&*call.name, &*call.arguments))
            .collect();
        assert_eq!(
            calls,
            [("f", r#"{"x":1}"#), ("f", r#"{"x":2}"#), ("g", "{}")]
        );
        // A name that is repeated in each piece is none of another call.
        let pieces = [("f", r#"{\"x\""#), ("f", ":1}"), ("f", "")].map(|(f, a)| event(f, a));
        let calls = answer_of(&[&pieces[0], &pieces[1], &pieces[2], END])
            .completion
            .calls;
        assert_eq!(
            (calls.len(), &*calls[0].name, &*calls[0].arguments),
            (1, "f", r#"{"x":1}"#)
        );
    }
}

/// Poolside's first piece has the name and an id, and the others of that index have
/// another id. LMDeploy numbers all calls 0, and names each.
#[test]
fn an_id_that_changes_begins_no_call_without_a_name() {
    let event = |index: u64, id: &str, name: Option<&str>, arguments: &str| {
        let function = serde_json::json!({"name": name, "arguments": arguments});
        let call = serde_json::json!({"index": index, "id": id, "function": function});
        serde_json::json!({"choices": [{"delta": {"tool_calls": [call]}}]}).to_string()
    };
    let calls = |events: &[String]| {
        let events: Vec<&str> = events.iter().map(String::as_str).chain([END]).collect();
        let calls = answer_of(&events).completion.calls;
        calls
            .into_iter()
            .map(|call| [call.id, call.name, call.arguments].join(" "))
            .collect::<Vec<_>>()
    };
    let changing = [
        event(0, "a", Some("f"), ""),
        event(0, "b", None, "{\"x\":"),
        event(0, "c", Some(""), "1}"),
        event(1, "d", Some("f"), ""),
        event(1, "e", None, "{}"),
    ];
    assert_eq!(calls(&changing), [r#"a f {"x":1}"#, "d f {}"]);
    let numbered_alike = [
        event(0, "a", Some("f"), "{}"),
        event(0, "b", Some("f"), "{"),
        event(0, "b", None, "}"),
    ];
    assert_eq!(calls(&numbered_alike), ["a f {}", "b f {}"]);
}

/// OpenRouter sends what Google encrypted with the index 0 for each call.
#[test]
fn encrypted_thoughts_of_two_calls_are_apart() {
    let thought = |id: &str, data: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"reasoning_details":[{{"type":"reasoning.encrypted","data":"{data}","id":"{id}","index":0}}],"tool_calls":[{{"id":"{id}","function":{{"name":"f","arguments":"{{}}"}}}}]}}}}]}}"#
        )
    };
    let read = answer_of(&[&thought("t1", "AAA"), &thought("t2", "BBB"), END]);
    let parts = others(&read).concat();
    assert!(
        parts.contains(r#""AAA""#) && parts.contains(r#""BBB""#),
        "{parts}"
    );
}

/// vLLM, Groq and Ollama take `reasoning` back with the calls that followed it;
/// Mistral thinks in parts of the content.
#[test]
fn reasoning_by_other_names() {
    let named = [
        r#"{"choices":[{"delta":{"reasoning":"I "}}]}"#,
        r#"{"choices":[{"delta":{"reasoning":"think"}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}"#,
        END,
    ];
    let read = answer_of(&named);
    assert_eq!(read.completion.reasoning.as_deref(), Some("I think"));
    assert_eq!(others(&read), [r#"{"reasoning":"I think"}"#]);
    let parts = [
        r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"h"}]}]}}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"m"}]},{"type":"text","text":"4"}]}}]}"#,
        r#"{"choices":[{"delta":{"content":"2"},"finish_reason":"stop"}]}"#,
    ];
    let completion = answer_of(&parts).completion;
    assert_eq!(
        (&*completion.text, completion.reasoning.as_deref()),
        ("42", Some("hm"))
    );
}

/// LiteLLM's `thinking_blocks`, of which Anthropic wants each back with its signature.
#[test]
fn blocks_of_thinking_go_back_signed() {
    let event = |block: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"reasoning_content":"r","thinking_blocks":[{block}]}}}}]}}"#
        )
    };
    let blocks = [
        r#"{"type":"thinking","thinking":"a","signature":null}"#,
        r#"{"type":"thinking","thinking":"b"}"#,
        r#"{"type":"thinking","thinking":"","signature":"S1"}"#,
        r#"{"type":"thinking","thinking":"c","signature":"S2"}"#,
        r#"{"type":"redacted_thinking","data":"D1"}"#,
        r#"{"type":"redacted_thinking","data":"D2"}"#,
    ]
    .map(event);
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    let mut events: Vec<&str> = blocks.iter().map(String::as_str).collect();
    events.extend([call, END]);
    let read = answer_of(&events);
    let joined = r#"{"thinking_blocks":[{"type":"thinking","thinking":"ab","signature":"S1"},{"type":"thinking","thinking":"c","signature":"S2"},{"type":"redacted_thinking","data":"D1"},{"type":"redacted_thinking","data":"D2"}]}"#;
    assert_eq!(others(&read), [r#"{"reasoning_content":"rrrrrr"}"#, joined]);
}

/// Some servers give a reason with each piece: one that comes with the first does not count.
#[test]
fn an_answer_is_complete_after_its_last_piece_and_a_reason_to_end() {
    let [piece, end] = [
        FRAGMENTS[9],
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
    ];
    let call = |arguments: &str| {
        let function = serde_json::json!({"name": "f", "arguments": arguments});
        serde_json::json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": function}]}}]})
            .to_string()
    };
    let in_each = piece.replace("}}]}", r#"},"finish_reason":"stop"}]}"#);
    let sloppy = piece.replace("}}]}", r#"},"finish_reason":"null"}]}"#);
    for (events, expected) in [
        (&[piece, end][..], true),
        (&[piece, end, FRAGMENTS[12]], true),
        (&[&call("{}"), END], true),
        (&[piece, &END.replace("tool_calls", "length")], true),
        (&[piece], false),
        (&[piece, &sloppy], false),
        (&[&in_each], false),
        (&[&in_each, &in_each], false),
        (&[piece, end, piece, end], false),
        (&[piece, END], false),
        (&[&call(r#"{"a":"#), END], false),
        (&[&call("{}"), &call(""), end, &call("{}")], false),
        (&[&call(""), END], false),
    ] {
        assert_eq!(cuts::is_complete(&CHAT, events), expected, "{events:?}");
    }
}

#[test]
fn more_parts_than_an_answer_has_are_none() {
    let body = |parts| {
        format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{parts}]}},"finish_reason":"stop"}}]}}"#
        )
    };
    for (parts, is_read) in [(9_000, true), (20_000, false)] {
        let shown = cuts::whole(&CHAT, &body(vec!["{}"; parts].join(",")));
        assert_eq!(shown.contains("no answer has as many"), !is_read, "{parts}");
    }
}
