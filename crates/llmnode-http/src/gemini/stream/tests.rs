use super::super::GENERATE;
use crate::api::cuts;

const PIECE: &str = r#"{"candidates":[{"content":{"parts":[{"text":"é\n"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":3,"totalTokenCount":3}}"#;
const CALL: &str = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1.0}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}]}"#;

#[test]
fn cuts_anywhere_come_to_the_same() {
    for body in [
        format!("data: {PIECE}\n\ndata: {CALL}\n\ndata: {PIECE}\n\n"),
        format!("data: {PIECE}\r\n\r\ndata: {CALL}"),
        format!(
            "data: {}\n\ndata: {}\n\ndata: {CALL}\n\n",
            PIECE.replace("é\\n", "\\ud83d"),
            PIECE.replace("é", "\\ude00"),
        ),
        format!(
            "data: {PIECE}\n\ndata: {{\"error\":{{\"code\":503,\"status\":\"UNAVAILABLE\"}}}}\n\n"
        ),
        format!("data: {PIECE}\r\n\r\n{{\r\n  \"error\": {{\"code\":429}}\r\n}}\r\n"),
        format!("data: {PIECE}\n\n"),
        "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n".to_owned(),
        "data: [DONE]\n\n".to_owned(),
    ] {
        cuts::come_to_the_same(&GENERATE, body.as_bytes());
    }
}

#[test]
fn cuts_of_recorded_bodies_come_to_the_same() {
    cuts::of_recorded_bodies_come_to_the_same(&GENERATE, "gemini");
}

#[test]
fn hostile_events_do_no_harm() {
    let with = |events: &[&str]| cuts::events(&GENERATE, events);
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
    assert!(
        shown.contains("other_choices") && !shown.contains("no\n"),
        "{shown}"
    );
}

#[test]
fn a_block_in_the_middle_withholds_the_answer() {
    let block = r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":3,"totalTokenCount":3}}"#;
    let shown = cuts::events(&GENERATE, &[PIECE, block]);
    assert!(
        shown.contains("the prompt is blocked (PROHIBITED_CONTENT)"),
        "{shown}"
    );
    let answered = cuts::events(
        &GENERATE,
        &[PIECE, CALL, r#"{"promptFeedback":{"safetyRatings":[]}}"#],
    );
    assert!(answered.contains("finish"), "{answered}");
}

#[test]
fn what_is_dispensable_fails_no_answer() {
    let cut = r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"MAX_TOKENS"}],"promptFeedback":{"blockReason":[]}}"#;
    let shown = cuts::events(
        &GENERATE,
        &[
            cut,
            r#"{"candidates":[{"finishReason":"FINISH_REASON_UNSPECIFIED"}]}"#,
        ],
    );
    assert!(shown.contains("Length"), "{shown}");
}

/// In 2024, Gemini gave a finish reason with each piece: one that comes with the
/// first does not count.
#[test]
fn an_answer_is_complete_after_its_finish_reason_and_its_count_of_tokens() {
    let counts =
        r#"{"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5}}"#;
    let unspecified = CALL.replace("STOP", "FINISH_REASON_UNSPECIFIED");
    for (events, expected) in [
        (&[PIECE, CALL, counts][..], true),
        (&[PIECE, CALL], false),
        (&[PIECE, counts], false),
        (&[PIECE, CALL, PIECE, counts], false),
        (&[PIECE, &unspecified, counts], false),
        (&[CALL, counts], false),
        (&[CALL, counts, CALL, counts], false),
    ] {
        assert_eq!(cuts::is_complete(&GENERATE, events), expected, "{events:?}");
    }
}

#[test]
fn of_an_answer_that_breaks_off_the_output_is_unknown() {
    let last = |events: &[&str]| {
        cuts::usage(&GENERATE, events).map(|usage| (usage.input, usage.output, usage.total))
    };
    let counts =
        r#"{"usageMetadata":{"promptTokenCount":3,"thoughtsTokenCount":2,"totalTokenCount":5}}"#;
    assert_eq!(last(&[PIECE, PIECE]), Some((Some(3), None, None)));
    assert_eq!(last(&[PIECE, counts]), Some((Some(3), Some(2), Some(5))));
    assert_eq!(
        last(&[PIECE, CALL]),
        Some((Some(3), Some(0), Some(3))),
        "zeros are left out"
    );
    assert_eq!(last(&[r#"{"usageMetadata":{"totalTokenCount":3}}"#]), None);
}

#[test]
fn an_answer_that_is_not_complete_is_not_taken_for_one() {
    for (reason, expected) in [
        ("STOP", "Some(Stop)"),
        ("CONTINUATION", "Some(Length)"),
        ("LANGUAGE", "Gemini withheld the answer (LANGUAGE)"),
        ("ESCALATION", "Gemini withheld the answer (ESCALATION)"),
        (
            "PUP_LIMITED_DISABLED",
            "Gemini withheld the answer (PUP_LIMITED_DISABLED)",
        ),
        ("OTHER", "Some(Error)"),
        ("MALFORMED_RESPONSE", "Some(Error)"),
        ("NEW", r#"Some(Other("NEW"))"#),
    ] {
        let shown = cuts::events(&GENERATE, &[PIECE, &CALL.replace("STOP", reason)]);
        assert!(shown.contains(expected), "{reason}: {shown}");
    }
}

#[test]
fn parts_without_anything_take_no_memory() {
    let parts = ["{}"; 20_000].join(",");
    let body = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{{"text":"a"}},{parts}]}},"finishReason":"STOP"}}]}}"#
    );
    let shown = cuts::whole(&GENERATE, &body);
    assert!(!shown.contains("Other"), "{shown}");
}
