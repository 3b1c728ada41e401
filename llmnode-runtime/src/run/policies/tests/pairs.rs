//! Rows for each pair of policies that can meet: which of the two has the word.

use llmnode_model::ext::AnswerLimit;
use llmnode_model::{Category, FinishReason, Message, Retry, Role};
use llmnode_reader::Flag;

use super::attempt::{Attempt, Verdict, failed, failure, rejected, valid};
use crate::ledger::AttemptKind;
use crate::run::response::Judgement;

const CALL: &str = r#"{"name": "count", "arguments": {}}"#;
const OK: &str = r#"{"n": 1}"#;

/// One pair, met by a response.
struct ReceivedRow {
    pair: &'static str,
    attempt: Attempt,
    outcome: Verdict,
    flags: &'static [Flag],
}

/// One pair, met by a judgement.
struct JudgedRow {
    pair: &'static str,
    attempt: Attempt,
    judgement: Judgement,
    outcome: Verdict,
}

fn padded(text: &str) -> String {
    format!("{text}{}", " ".repeat(100))
}

fn with_paused_turn(mut attempt: Attempt, text: &str) -> Attempt {
    let paused = Message::new(Role::Assistant, text);
    attempt.request.messages.push(paused);
    attempt
}

fn ended(mut attempt: Attempt, finish: FinishReason) -> Attempt {
    attempt.ended.finish = Some(finish);
    attempt
}

fn quoting(mut attempt: Attempt) -> Attempt {
    attempt.request.messages[0].content.push_str(CALL);
    attempt
}

fn received_rows() -> Vec<ReceivedRow> {
    let truncated = Verdict::Failed(Category::TruncatedOutput, None);
    vec![
        ReceivedRow {
            pair: "Padding, then CutAnswer: calls that are complete are not cut",
            attempt: Attempt::calls(&padded("{}")).cut(false),
            outcome: Verdict::Turn,
            flags: &[Flag::EstimatedUsage],
        },
        ReceivedRow {
            pair: "CutAnswer, then RunCalls: what was cut is not called",
            attempt: Attempt::calls("{").cut(false),
            outcome: truncated,
            flags: &[],
        },
        ReceivedRow {
            pair: "Padding, then CallsInText: a text that is complete is read for calls",
            attempt: Attempt::text(&padded(CALL)).with_tools().cut(false),
            outcome: Verdict::Turn,
            flags: &[Flag::EstimatedUsage, Flag::CallInText],
        },
        ReceivedRow {
            pair: "UnusableAnswer, then CallsInText: what a filter has withheld is not called",
            attempt: ended(
                Attempt::text(CALL).with_tools(),
                FinishReason::ContentFilter,
            ),
            outcome: Verdict::Failed(Category::ContentFilter, None),
            flags: &[],
        },
        ReceivedRow {
            pair: "UnusableAnswer, then RunCalls: nor are its calls",
            attempt: ended(Attempt::calls("{}"), FinishReason::Error),
            outcome: Verdict::Failed(Category::ServerError, None),
            flags: &[],
        },
        ReceivedRow {
            pair: "UnusableAnswer, then PausedTurn: an end without a text is no end",
            attempt: with_paused_turn(Attempt::text(""), "It is"),
            outcome: Verdict::Failed(Category::EmptyResponse, None),
            flags: &[],
        },
        ReceivedRow {
            pair: "PausedTurn, then CallsInText: the end alone is no call",
            attempt: with_paused_turn(Attempt::text(CALL).with_tools(), "I call this: "),
            outcome: Verdict::Validate,
            flags: &[],
        },
        ReceivedRow {
            pair: "CallsInText, then RunCalls: a call in a text is called",
            attempt: Attempt::text(CALL).with_tools(),
            outcome: Verdict::Turn,
            flags: &[Flag::CallInText],
        },
        ReceivedRow {
            pair: "CallsInText, then RunCalls: but not one that stands in the data",
            attempt: quoting(Attempt::text(CALL).with_tools()),
            outcome: Verdict::Validate,
            flags: &[Flag::QuotedCall],
        },
    ]
}

#[test]
fn pairs_that_meet_at_a_response() {
    for mut row in received_rows() {
        assert_eq!(row.attempt.received(), row.outcome, "{}", row.pair);
        assert_eq!(row.attempt.flags, row.flags, "{}", row.pair);
    }
}

fn judged_rows() -> Vec<JudgedRow> {
    let again = |category| Verdict::Failed(category, Some(Retry::Adapted));
    let told = |category| Verdict::Failed(category, Some(Retry::Feedback));
    vec![
        JudgedRow {
            pair: "FreeChoice, then CutAnswer: asked again at once, and told as cut",
            attempt: Attempt::text("So")
                .typed()
                .cut(false)
                .flagged(Flag::FreeChoice),
            judgement: rejected(),
            outcome: again(Category::TruncatedOutput),
        },
        JudgedRow {
            pair: "FreeChoice, then AskForLess: asked again at once, not asked for less",
            attempt: Attempt::text("So")
                .typed()
                .with_tools()
                .cut(false)
                .flagged(Flag::FreeChoice),
            judgement: rejected(),
            outcome: again(Category::TruncatedOutput),
        },
        JudgedRow {
            pair: "CutAnswer, then AskForLess: a higher limit comes first",
            attempt: Attempt::text("So").typed().with_tools().cut(true),
            judgement: rejected(),
            outcome: again(Category::TruncatedOutput),
        },
        JudgedRow {
            pair: "CutAnswer, then AskForLess: where no limit rises, less is asked for",
            attempt: Attempt::text("So").typed().with_tools().cut(false),
            judgement: rejected(),
            outcome: told(Category::TruncatedOutput),
        },
        JudgedRow {
            pair: "AskForLess, then LostAnswer: less is asked for first",
            attempt: Attempt::text("So")
                .typed()
                .with_tools()
                .cut(false)
                .flagged(Flag::FreeChoice)
                .after_a_tool(),
            judgement: failed(Category::TruncatedOutput, None),
            outcome: told(Category::TruncatedOutput),
        },
        JudgedRow {
            pair: "FailedCall, then LostAnswer: in a typed node, the failed call is told",
            attempt: Attempt::text("")
                .typed()
                .with_tools()
                .flagged(Flag::FreeChoice)
                .after_a_tool(),
            judgement: failed(Category::SchemaError, Some(Retry::Feedback)),
            outcome: told(Category::SchemaError),
        },
        JudgedRow {
            pair: "RejectedAnswer, then LostAnswer: both, since a replay repeats the answer",
            attempt: called_in_text(Attempt::text("So").typed().with_tools().after_a_tool()),
            judgement: rejected(),
            outcome: again(Category::SchemaError),
        },
    ]
}

#[test]
fn pairs_that_meet_at_a_judgement() {
    for mut row in judged_rows() {
        assert_eq!(
            row.attempt.after(row.judgement),
            row.outcome,
            "{}",
            row.pair
        );
    }
}

fn called_in_text(mut attempt: Attempt) -> Attempt {
    attempt.history.has_called_in_text = true;
    attempt
}

#[test]
fn less_is_asked_for_once_and_then_the_answer_alone() {
    let attempt = Attempt::text("So").typed().with_tools().cut(false);
    let mut attempt = called_in_text(attempt.after_a_tool());
    let cut = || failed(Category::TruncatedOutput, None);
    let outcome = |retry| Verdict::Failed(Category::TruncatedOutput, Some(retry));
    assert_eq!(attempt.after(cut()), outcome(Retry::Feedback));
    assert_eq!(attempt.after(cut()), outcome(Retry::Adapted));
}

#[test]
fn what_is_not_told_is_not_journaled() {
    let free = || Attempt::text("So").typed().flagged(Flag::FreeChoice);
    let rows = [
        ("told", Attempt::text("So").typed(), true),
        (
            "LostAnswer",
            called_in_text(Attempt::text("So").typed().with_tools().after_a_tool()),
            true,
        ),
        ("CutAnswer", Attempt::text("So").typed().cut(false), false),
        ("FreeChoice", free(), false),
    ];
    for (pair, mut attempt, is_journaled) in rows {
        attempt.after(rejected());
        assert_eq!(attempt.is_journaled, is_journaled, "{pair}");
    }
}

#[test]
fn the_handle_learns_before_a_rejection_is_taken_away() {
    let mut free = Attempt::text("So").typed().flagged(Flag::FreeChoice);
    free.after(rejected());
    assert!(free.is_unenforced(), "UnenforcedSchema, then FreeChoice");
    let mut cut = Attempt::text("So").typed().cut(false);
    cut.after(rejected());
    assert!(!cut.is_unenforced(), "UnenforcedSchema, then CutAnswer");
}

#[test]
fn a_text_that_is_cut_is_not_flagged_as_a_copied_bound() {
    let bounds = |mut attempt: Attempt| {
        let mut bad = failure(Category::ValidationError, None);
        bad.violations[0].message = "is 3, must be at least 1".to_owned();
        attempt.before(AttemptKind::Correction, Some(&mut bad));
        attempt
    };
    let mut cut = bounds(Attempt::text(OK).cut(true));
    let raised = Verdict::Failed(Category::TruncatedOutput, Some(Retry::Adapted));
    assert_eq!(cut.after(valid()), raised, "CutAnswer, then CopiedBound");
    assert_eq!(cut.flags, []);
    let mut whole = bounds(Attempt::text(OK).typed());
    assert_eq!(whole.after(valid()), Verdict::Valid);
    assert_eq!(whole.flags, [Flag::AtBound]);
    whole.flags.clear();
    whole.before(AttemptKind::Turn, None);
    whole.after(valid());
    assert_eq!(whole.flags, [], "another turn begins anew");
}

#[test]
fn a_limit_is_raised_once() {
    let mut attempt = Attempt::text("So").cut(true);
    let outcome = |retry| Verdict::Failed(Category::TruncatedOutput, retry);
    assert_eq!(attempt.after(valid()), outcome(Some(Retry::Adapted)));
    let mut cut = failure(Category::TruncatedOutput, Some(Retry::Adapted));
    cut.raises_limit = true;
    attempt.before(AttemptKind::Adapted, Some(&mut cut));
    assert!(attempt.request.raised);
    assert_eq!(attempt.after(valid()), outcome(None));
    let limit = attempt.response.limit;
    assert!(limit.is_some_and(|limit: AnswerLimit| limit.rises));
}

#[test]
fn the_last_turn_and_the_lost_answer_ask_for_the_answer_alone() {
    let mut last = Attempt::text("").with_tools();
    last.history.turns.limit = 1;
    last.before(AttemptKind::First, None);
    assert!(last.request.answer_now, "LastTurn");
    let mut lost = called_in_text(Attempt::text("So").typed().with_tools().after_a_tool());
    lost.before(AttemptKind::First, None);
    assert!(!lost.request.answer_now, "turns are left");
    let mut bad = failure(Category::SchemaError, None);
    lost.before(AttemptKind::Correction, Some(&mut bad));
    assert!(lost.request.answer_now, "LostAnswer");
    let said = lost.explained(&mut bad);
    assert!(said.ends_with("no answer came: set `retries`"), "{said}");
}
