use super::super::MESSAGES;
use crate::api::cuts;

#[test]
fn cuts_anywhere_come_to_the_same() {
    let start =
        r#"{"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":3}}}"#;
    let block =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    let piece =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"é\n"}}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#;
    for body in [
        format!(
            "data: {start}\n\ndata: {block}\n\ndata: {piece}\n\ndata: {end}\n\ndata: {{\"type\":\"message_stop\"}}\n\n"
        ),
        format!("event: message_start\r\ndata: {start}\r\n\r\ndata: {piece}\r\n\r\ndata: {end}"),
        format!(
            "data: {start}\n\ndata: {}\n\ndata: {}\n\ndata: {end}\n\n",
            piece.replace("é\\n", "\\ud83d"),
            piece.replace("é", "\\ude00"),
        ),
        format!(
            "data: {start}\n\nevent: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"overloaded_error\"}}}}\n\n"
        ),
        format!("data: {start}\n\ndata: {piece}\n\n"),
        "data: [DONE]\n\n".to_owned(),
    ] {
        cuts::come_to_the_same(&MESSAGES, body.as_bytes());
    }
}

#[test]
fn cuts_of_recorded_bodies_come_to_the_same() {
    cuts::of_recorded_bodies_come_to_the_same(&MESSAGES, "anthropic");
}

#[test]
fn hostile_events_do_no_harm() {
    let with = |events: &[&str]| cuts::events(&MESSAGES, events);
    for events in [
        &["7"][..],
        &["null"],
        &["{}"],
        &["[]"],
        &[r#"{"type":"content_block_delta","index":-1,"delta":{"text":"a"}}"#],
        &[r#"{"type":"content_block_start","index":18446744073709551615,"content_block":7}"#],
        &[
            r#"{"type":"message_start","message":"a"}"#,
            r#"{"type":"message_delta","delta":7,"usage":[]}"#,
        ],
        &[
            r#"{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"category":7}}}"#,
        ],
        &[r#"{"type":"content_block_delta","index":0,"delta":{"citation":1,"citations":"a"}}"#],
    ] {
        assert!(!with(events).is_empty());
    }
}

#[test]
fn odd_details_of_a_stop_fail_no_answer() {
    let body = br#"{"content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","stop_details":{"category":{}}}"#;
    assert!((MESSAGES.read)(body, crate::api::expected_calls::ExpectedCalls::default()).is_ok());
}

#[test]
fn a_message_is_complete_after_its_reason_to_stop() {
    let start =
        r#"{"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":3}}}"#;
    let call = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}"#;
    let half = r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#;
    let rest = half.replace(r#"{\"a\":"#, "1}");
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}"#;
    for (events, expected) in [
        (&[start, call, end][..], true),
        (&[start, call, half, &rest, end], true),
        (&[start, call, half, end], false),
        (&[start, call, half, &rest], false),
        (&[start, call, end, start, call], false),
    ] {
        assert_eq!(cuts::is_complete(&MESSAGES, events), expected, "{events:?}");
    }
}

#[test]
fn two_calls_with_one_index_stay_two() {
    let start = |id: &str| {
        format!(
            r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"tool_use","id":"{id}","name":"f","input":{{}}}}}}"#
        )
    };
    let piece = |text: &str| {
        format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":"{text}"}}}}"#
        )
    };
    let stop = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#.to_owned();
    let events = [
        start("a"),
        piece("[1"),
        piece("]"),
        start("b"),
        piece("[2"),
        piece("]"),
        stop,
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let shown = cuts::events(&MESSAGES, &events);
    let [first, second] = ["\"a\"", "\"b\""].map(|id| shown.find(id).unwrap());
    assert!(
        first < second && shown.matches("arguments: 3 bytes").count() == 2,
        "{shown}"
    );
}

#[test]
fn more_parts_than_an_answer_has_are_none() {
    let body = |parts| format!(r#"{{"content":[{parts}],"stop_reason":"end_turn"}}"#);
    for (parts, is_read) in [(9_000, true), (20_000, false)] {
        let shown = cuts::whole(&MESSAGES, &body(vec!["{}"; parts].join(",")));
        assert_eq!(shown.contains("no answer has as many"), !is_read, "{parts}");
    }
}
