//! What each policy does, and for whom it does nothing, in the order of the list. The whole list is asked, as by an attempt.

use llmnode_model::{Category, FinishReason, Message, Request, ResponseFormat, Retry, Role};
use llmnode_reader::ask::allow_only;
use llmnode_reader::{Flag, Violation};

use super::attempt::{Attempt, Verdict, failed, failure, rejected, valid};
use crate::ledger::AttemptKind;
use crate::run::response::{Judgement, Validated};

const OK: &str = r#"{"n": 1}"#;
const CALL: &str = r#"{"name": "count", "arguments": {}}"#;

#[test]
fn padding_makes_a_document_whole() {
    let padded = format!("{OK}{}", "\n".repeat(80));
    let mut whole = Attempt::text(&padded).typed().cut(false);
    assert_eq!(whole.received(), Verdict::Validate);
    assert!(!whole.response.is_cut());
    assert_eq!(whole.flags, [Flag::EstimatedUsage]);
    let mut little = Attempt::text(&format!("{OK}\n")).typed().cut(false);
    little.received();
    assert!(little.response.is_cut(), "a line may follow");
    let mut complete = Attempt::text(&padded).typed();
    complete.received();
    assert_eq!(complete.response.padding, 0, "it did not stop at a limit");
}

#[test]
fn what_is_of_no_use_is_not_read() {
    let rows = [
        (
            Some(FinishReason::ContentFilter),
            "So",
            Category::ContentFilter,
        ),
        (Some(FinishReason::Error), "So", Category::ServerError),
        (
            Some(FinishReason::Continue),
            "So",
            Category::TruncatedOutput,
        ),
        (Some(FinishReason::Length), " ", Category::TruncatedOutput),
        (Some(FinishReason::Stop), "\n", Category::EmptyResponse),
        (None, "", Category::EmptyResponse),
    ];
    for (finish, text, category) in rows {
        let mut attempt = Attempt::text(text);
        attempt.ended.finish = finish;
        assert_eq!(
            attempt.received(),
            Verdict::Failed(category, None),
            "{text:?}"
        );
    }
    let mut refused = Attempt::text("");
    refused.ended.refusal = Some("I cannot".to_owned());
    let outcome = Verdict::Failed(Category::Refusal, None);
    assert_eq!(refused.received(), outcome);
    assert_eq!(Attempt::text("So").received(), Verdict::Validate);
}

#[test]
fn a_prompt_that_fills_the_window_is_told_from_a_short_limit() {
    let usage = |input, output| Some(llmnode_model::TokenUsage::new(input, output));
    let rows = [
        (usage(4090, 1), Category::ContextLengthError),
        (usage(400, 1), Category::TruncatedOutput),
        (usage(4090, 100), Category::TruncatedOutput),
        (None, Category::TruncatedOutput),
    ];
    for (usage, category) in rows {
        let mut attempt = Attempt::text("").cut(false);
        attempt.ended.usage = usage;
        assert_eq!(
            attempt.received(),
            Verdict::Failed(category, None),
            "{usage:?}"
        );
    }
}

#[test]
fn a_schema_that_is_not_enforced_is_reported() {
    let good = |flags| {
        Judgement::Valid(Validated {
            flags,
            warnings: Vec::new(),
        })
    };
    let rows = [
        (r#"{"n": "1"}"#, good(vec![Flag::Fenced]), true),
        (OK, good(vec![Flag::Fenced]), false),
        ("So", good(vec![Flag::AfterThinking]), false),
        ("So", rejected(), true),
        ("So", failed(Category::SchemaError, None), false),
    ];
    for (text, judgement, is_unenforced) in rows {
        let mut attempt = Attempt::text(text).typed();
        attempt.after(judgement);
        assert_eq!(attempt.is_unenforced(), is_unenforced, "{text}");
    }
}

#[test]
fn a_text_in_place_of_a_forced_call_is_asked_for_again_at_once() {
    let free = || Attempt::text("So").typed().flagged(Flag::FreeChoice);
    let again = Verdict::Failed(Category::SchemaError, Some(Retry::Adapted));
    assert_eq!(free().after(rejected()), again);
    assert_eq!(free().after(valid()), Verdict::Valid);
    let invalid = Judgement::Rejected(failure(Category::ValidationError, None));
    let told = Verdict::Failed(Category::ValidationError, None);
    assert_eq!(free().after(invalid), told);
}

#[test]
fn another_tool_in_place_of_a_forced_call_is_asked_for_again_at_once() {
    let empty = || failed(Category::EmptyResponse, None);
    let nothing = || Attempt::text("").typed();
    let again = Verdict::Failed(Category::EmptyResponse, Some(Retry::Adapted));
    assert_eq!(nothing().flagged(Flag::FreeChoice).after(empty()), again);
    let told = Verdict::Failed(Category::EmptyResponse, None);
    assert_eq!(nothing().after(empty()), told, "it had not to call");
}

#[test]
fn a_cut_answer_is_no_bad_one() {
    let cut = |retry| Verdict::Failed(Category::TruncatedOutput, retry);
    let text = |rises| Attempt::text("So").cut(rises);
    assert_eq!(
        text(false).after(valid()),
        Verdict::Valid,
        "the limit stands"
    );
    assert_eq!(text(true).after(valid()), cut(Some(Retry::Adapted)));
    let typed = || Attempt::text(OK).typed();
    assert_eq!(typed().cut(true).after(valid()), Verdict::Valid, "complete");
    assert_eq!(
        typed().cut(true).after(rejected()),
        cut(Some(Retry::Adapted))
    );
    assert_eq!(typed().cut(false).after(rejected()), cut(None));
    let bad = Verdict::Failed(Category::SchemaError, None);
    assert_eq!(typed().after(rejected()), bad, "not cut");
}

#[test]
fn a_paused_turn_is_a_part_of_the_answer_that_is_a_text() {
    let paused = |mut attempt: Attempt| {
        let begin = Message::new(Role::Assistant, "It is ");
        attempt.request.messages.push(begin);
        attempt
    };
    let mut text = paused(Attempt::text("late."));
    assert_eq!(text.received(), Verdict::Validate);
    assert_eq!(text.response.text, "It is late.");
    let mut typed = paused(Attempt::text(OK).typed());
    typed.received();
    assert_eq!(typed.response.text, OK);
}

#[test]
fn calls_in_a_text_run_where_they_may() {
    let refused = Verdict::Failed(Category::SchemaError, Some(Retry::Feedback));
    let asks = || Attempt::text(CALL).with_tools();
    assert_eq!(asks().received(), Verdict::Turn);
    assert_eq!(
        Attempt::text(CALL).received(),
        Verdict::Validate,
        "no tools"
    );
    let mut answer = asks().typed();
    answer.is_answer = true;
    assert_eq!(answer.received(), Verdict::Validate, "it is the answer");
    let mut last = asks();
    last.request.answer_now = true;
    assert_eq!(last.received(), Verdict::Validate, "only an answer is left");
    let marked = format!("<tool_call>{CALL}</tool_call>");
    let mut last = Attempt::text(&marked).with_tools();
    last.request.answer_now = true;
    assert_eq!(last.received(), refused);
    let unread = "<function=count>\n<parameter=n>1</parameter>\n</function>";
    assert_eq!(Attempt::text(unread).with_tools().received(), refused);
    let mut guarded = asks();
    let mut tools = guarded.request.tools.to_vec();
    tools[0].needs_approval = true;
    guarded.request.tools = tools.into();
    assert_eq!(guarded.received(), refused);
}

#[test]
fn a_call_inside_other_text_is_told_first() {
    let mut attempt = Attempt::text(&format!("I call {CALL} now"))
        .typed()
        .with_tools();
    attempt.after(rejected());
    let complaint = attempt.complaints.first().map(String::as_str);
    assert!(
        complaint.is_some_and(|complaint| complaint.contains("inside other text")),
        "{complaint:?}"
    );
}

#[test]
fn a_copied_form_is_no_answer() {
    let copy = r#"{"n": <whole number>}"#;
    let rows = [
        (Some(ResponseFormat::Prompt), true),
        (Some(ResponseFormat::JsonObject), true),
        (Some(ResponseFormat::Strict), false),
        (None, false),
    ];
    for (format, is_copy) in rows {
        let mut attempt = Attempt::text(copy).typed();
        attempt.record.response_format = format;
        let outcome = match is_copy {
            true => Verdict::Failed(Category::SchemaError, None),
            false => Verdict::Validate,
        };
        assert_eq!(attempt.received(), outcome, "{format:?}");
    }
}

#[test]
fn a_failed_call_takes_a_turn_of_a_text() {
    let call = || failed(Category::SchemaError, Some(Retry::Feedback));
    let mut text = Attempt::text("").with_tools();
    let again = Verdict::Failed(Category::SchemaError, Some(Retry::Adapted));
    assert_eq!(text.after(call()), again);
    assert_eq!(text.history.turns.used, 1);
    let told = Verdict::Failed(Category::SchemaError, Some(Retry::Feedback));
    let mut typed = Attempt::text("").with_tools().typed();
    assert_eq!(typed.after(call()), told);
    assert_eq!(typed.history.turns.used, 0);
}

#[test]
fn less_is_asked_of_a_model_with_tools() {
    let cut = || failed(Category::TruncatedOutput, None);
    let outcome = |retry| Verdict::Failed(Category::TruncatedOutput, retry);
    assert_eq!(Attempt::text("").after(cut()), outcome(None));
    let told = outcome(Some(Retry::Feedback));
    assert_eq!(Attempt::text("").with_tools().after(cut()), told);
}

#[test]
fn the_last_turn_says_so_to_the_model_and_to_the_user() {
    let mut attempt = Attempt::text("").with_tools();
    attempt.history.turns.limit = 2;
    attempt.history.turns.used = 1;
    let result = Message::tool("1", "3");
    attempt.request.messages.push(result);
    attempt.before(AttemptKind::Turn, None);
    let last = attempt.request.messages.last();
    assert!(last.is_some_and(|last| last.content.contains("Answer now")));
    let called = crate::ledger::ToolRecord::called("2", "count");
    attempt.record.tools.push(called);
    let said = attempt.explained(&mut failure(Category::EmptyResponse, None));
    assert!(said.contains("the last of 2 turns"), "{said}");
}

#[test]
fn an_answer_that_is_lost_is_asked_for_alone() {
    let again = Verdict::Failed(Category::SchemaError, Some(Retry::Adapted));
    let told = Verdict::Failed(Category::SchemaError, None);
    let agent = || Attempt::text("So").typed().with_tools();
    let refused = |mut attempt: Attempt| {
        attempt.record.refused.push("tool_choice".to_owned());
        attempt
    };
    assert_eq!(refused(agent().after_a_tool()).after(rejected()), again);
    assert_eq!(refused(agent()).after(rejected()), told, "no tool has run");
    assert_eq!(
        agent().after_a_tool().after(rejected()),
        told,
        "it had to call"
    );
}

#[test]
fn a_correction_allows_what_a_check_listed() {
    let listed = || {
        let mut bad = failure(Category::ValidationError, None);
        bad.violations = vec![Violation::new("n", "is unknown")];
        bad.violations[0].allowed = vec!["1".to_owned(), "2".to_owned()];
        allow_only(&mut bad.violations[0]);
        bad
    };
    let allows_two = |request: &Request| {
        let schema = request.output.as_ref().map(|output| output.plain().get());
        schema.is_some_and(|schema| schema.contains('2'))
    };
    let mut enforced = Attempt::text(OK).typed();
    enforced.before(AttemptKind::Correction, Some(&mut listed()));
    assert!(allows_two(&enforced.request));
    enforced.before(AttemptKind::FallbackModel, None);
    assert!(!allows_two(&enforced.request), "another model begins anew");
    let mut shown = Attempt::text(OK).typed();
    shown.record.response_format = Some(ResponseFormat::Prompt);
    shown.before(AttemptKind::Correction, Some(&mut listed()));
    assert!(!allows_two(&shown.request), "the list is in words");
}
