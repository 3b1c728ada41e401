use super::super::RESPONSES;
use crate::api::cuts;

const PIECE: &str = r#"{"type":"response.output_text.delta","output_index":0,"delta":"é\n"}"#;
const DONE: &str = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"a","content":[{"type":"output_text","text":"é\n"}]}}"#;
const BARE: &str = r#"{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":3,"output_tokens":2}}}"#;
const END: &str = r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","id":"b","content":[{"type":"output_text","text":"The end."}]}]}}"#;

#[test]
fn cuts_anywhere_come_to_the_same() {
    for body in [
        format!("event: x\ndata: {PIECE}\n\ndata: {DONE}\n\ndata: {END}\n\n"),
        format!("data: {PIECE}\r\n\r\ndata: {BARE}"),
        format!(
            "data: {PIECE}\n\nevent: error\ndata: {{\"type\":\"error\",\"code\":\"server_error\"}}\n\n"
        ),
        format!(
            "data: {}\n\ndata: {}\n\ndata: {DONE}\n\ndata: {BARE}\n\n",
            PIECE.replace("é", "\\ud83d").replace("\\n", ""),
            PIECE.replace("é", "\\ude00"),
        ),
        format!("data: {PIECE}\n\n"),
        "data: [DONE]\n\n".to_owned(),
    ] {
        cuts::come_to_the_same(&RESPONSES, body.as_bytes());
    }
}

#[test]
fn cuts_of_recorded_bodies_come_to_the_same() {
    cuts::of_recorded_bodies_come_to_the_same(&RESPONSES, "responses");
}

fn with(events: &[&str]) -> String {
    cuts::events(&RESPONSES, events)
}

/// W21.
#[test]
fn the_last_event_counts_and_may_leave_its_items_to_the_others() {
    let shown = with(&[PIECE, DONE, END]);
    assert!(
        shown.contains("The end.") && !shown.contains('é'),
        "{shown}"
    );
    let shown = with(&[PIECE, DONE, BARE]);
    assert!(
        shown.contains('é') && shown.contains("finish: Some(Stop)"),
        "{shown}"
    );
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
fn an_incomplete_answer_is_cut_whatever_the_reason() {
    for details in [
        "null",
        "{}",
        r#"{"reason":"max_output_tokens"}"#,
        r#"{"reason":"max_messages"}"#,
    ] {
        let body = format!(
            r#"{{"type":"response.incomplete","response":{{"status":"incomplete","incomplete_details":{details},"output":[]}}}}"#
        );
        assert!(with(&[&body]).contains("finish: Some(Length)"), "{details}");
    }
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
        &[
            r#"{"type":"response.output_item.added","output_index":-1,"item":7}"#,
            BARE,
        ],
        &[
            r#"{"type":"response.output_item.done","output_index":18446744073709551615,"item":7}"#,
            BARE,
        ],
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

#[test]
fn two_calls_with_one_position_stay_two() {
    let done = |id: &str| {
        format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{{"type":"function_call","call_id":"{id}","name":"f","arguments":"[1]"}}}}"#
        )
    };
    let shown = with(&[&done("b"), &done("a"), &done("b"), BARE]);
    let [first, second] = ["\"b\"", "\"a\""].map(|id| shown.find(id).unwrap());
    assert!(
        first < second && shown.matches("arguments: 3 bytes").count() == 2,
        "{shown}"
    );
}

#[test]
fn more_parts_than_an_answer_has_are_none() {
    let body = |parts| format!(r#"{{"output":[{parts}],"status":"completed"}}"#);
    for (parts, is_read) in [(9_000, true), (20_000, false)] {
        let shown = cuts::whole(&RESPONSES, &body(vec!["{}"; parts].join(",")));
        assert_eq!(shown.contains("no answer has as many"), !is_read, "{parts}");
    }
}
