use std::path::PathBuf;
use std::time::Duration;

use llmnode_runtime::{Category, Usage};
use serde_json::json;

use super::*;
use crate::evaluated_case::{EvaluatedCase, Failure};
use crate::verdict::VerdictKind;

/// A baseline's file, of its own for each test.
struct TestFile {
    path: PathBuf,
}

impl AsRef<Path> for TestFile {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn file(name: &str) -> TestFile {
    let path =
        std::env::temp_dir().join(format!("llmnode-gate-{}-{name}.json", std::process::id()));
    let _ = std::fs::remove_file(&path);
    TestFile { path }
}

fn case(place: usize, score: f64) -> EvaluatedCase {
    let mut usage = Usage::default();
    usage.requests = 1;
    usage.total.known = 12;
    let case = json!({
        "name": format!("row-{place:03}"), "score": score, "feedback": if score < 1.0 { "expected 1, got 2" } else { "" },
        "output": {"team": if score < 1.0 { "roofers" } else { "repairs" }}, "model": "alpha", "usage": usage, "elapsed_ms": 250,
    });
    serde_json::from_value(case).unwrap()
}

/// Of the first cases, so many are wrong.
fn report(cases: usize, wrong: usize) -> Evaluation {
    let cases = (0..cases)
        .map(|place| case(place, if place < wrong { 0.0 } else { 1.0 }))
        .collect();
    let mut report = Evaluation::new("sort", None, cases);
    report.metric = "exact".to_owned();
    report
}

/// Written as a baseline, whatever the environment says.
fn baseline(path: &TestFile, report: &Evaluation) {
    Baseline::of(report, false).write(&path.path).unwrap();
}

#[test]
fn a_baseline_has_a_line_for_each_case_and_no_answer() {
    let path = file("lines");
    baseline(&path, &report(2, 1));
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        text,
        r#"{"format":"llmnode/baseline","version":1,"node":"sort","metric":"exact","repeats":1,"models":["alpha"],"cases":[
{"case":"row-000","score":0.0,"tokens":12,"elapsed_ms":250.0},
{"case":"row-001","score":1.0,"tokens":12,"elapsed_ms":250.0}
]}
"#
    );
    Baseline::of(&report(1, 1), true).write(&path.path).unwrap();
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .contains(r#""answer":{"team":"roofers"}"#)
    );
}

#[test]
fn without_a_baseline_the_test_fails_with_the_command_that_writes_it() {
    let mut now = report(3, 0);
    now.test = "letters_are_sorted".to_owned();
    let error = now.against(file("none")).unwrap_err();
    assert!(matches!(error, GateError::NoBaseline { .. }));
    let shown = format!("{error:?}");
    assert!(
        shown.contains(
            "LLMNODE_BLESS=letters_are_sorted cargo test letters_are_sorted -- --ignored"
        ),
        "{shown}"
    );
}

#[test]
fn a_fall_beyond_chance_is_worse_and_names_the_cases() {
    let path = file("worse");
    baseline(&path, &report(60, 0));
    let error = report(60, 7).against(&path).unwrap_err();
    let GateError::Worse { verdict, cases } = &error else {
        panic!("{error}")
    };
    assert_eq!(
        (verdict.kind.clone(), cases.len(), verdict.cases),
        (VerdictKind::Worse, 7, 60)
    );
    let shown = error.to_string();
    assert!(
        shown.starts_with("worse: -0.117 over 60 cases; by chance alone p = 0.008"),
        "{shown}"
    );
    assert!(
        shown.contains("\n  case 0: 1.000 → 0.000  expected 1, got 2"),
        "{shown}"
    );
    assert!(
        !shown.contains("hardly below"),
        "a p or a limit, and never both: {shown}"
    );
}

#[test]
fn a_dozen_cases_are_too_few_and_only_a_strict_gate_fails() {
    let path = file("few");
    baseline(&path, &report(12, 0));
    let now = report(12, 3);
    let verdict = now.against(&path).unwrap();
    assert_eq!(verdict.kind, VerdictKind::CannotTell);
    assert!(
        verdict
            .to_string()
            .starts_with("cannot tell: -0.250 over 12 cases"),
        "{verdict}"
    );
    assert!(!verdict.to_string().contains("p ="), "{verdict}");
    assert!(
        report(12, 0)
            .against(&path)
            .unwrap()
            .to_string()
            .contains(" cases would show it")
    );
    assert!(matches!(
        Gate::new(&path.path).strict().check(&now),
        Err(GateError::CannotTell { .. })
    ));
}

#[test]
fn many_cases_without_a_fall_are_no_worse() {
    let path = file("same");
    baseline(&path, &report(200, 20));
    assert_eq!(
        report(200, 20).against(&path).unwrap().kind,
        VerdictKind::NoWorse
    );
    let better = report(200, 0).against(&path).unwrap();
    assert!(
        better
            .to_string()
            .starts_with("better: +0.100 over 200 cases"),
        "{better}"
    );
}

/// A later report would have a case more, and be compared with nothing.
#[test]
fn a_baseline_of_the_programs_own_cases_has_all_of_them() {
    let mut now = report(20, 0);
    for (place, case) in now.cases.iter_mut().enumerate() {
        case.name = format!("#{place}");
    }
    now.cases[3].score = 0.0;
    now.cases[3].failure = Some(Failure {
        category: Category::Network,
        message: "refused".to_owned(),
    });
    assert!(unfinished(&now).is_ok());
    now.is_blessing = true;
    assert!(matches!(
        unfinished(&now),
        Err(GateError::Unfinished {
            left_out: 1,
            cases: 20
        })
    ));
    for case in &mut now.cases {
        case.name = case.name.replace('#', "row-");
    }
    assert!(unfinished(&now).is_ok());
}

#[test]
fn a_case_that_must_be_right_fails_by_itself() {
    let mut now = report(3, 0);
    now.cases[1].must = true;
    now.cases[1].scores = vec![1.0, 0.0, 1.0];
    now.cases[1].score = 2.0 / 3.0;
    let error = now.against(file("must")).unwrap_err();
    assert!(
        matches!(&error, GateError::Must { cases, verdict: None } if cases[0].place == 1),
        "there is no baseline: {error}"
    );
    let outage = Failure {
        category: Category::Network,
        message: "refused".to_owned(),
    };
    let mut unasked = report(30, 0);
    unasked.cases[1] = EvaluatedCase {
        must: true,
        score: 0.0,
        failure: Some(outage),
        ..unasked.cases[1].clone()
    };
    assert!(matches!(
        unasked.against(file("unasked")),
        Err(GateError::Unfinished {
            left_out: 1,
            cases: 30
        })
    ));
    assert!(
        error
            .to_string()
            .starts_with("a case that must be right is not:\n  case 1: 0.000 (0.000 to 1.000)"),
        "{error}"
    );
}

#[test]
fn what_is_something_else_is_not_compared() {
    let path = file("other");
    baseline(&path, &report(10, 0));
    let refused = |report: &Evaluation| report.against(&path).unwrap_err().to_string();
    let mut now = report(10, 0);
    now.metric = "closure".to_owned();
    assert!(refused(&now).contains("it was scored by `exact`, not by `closure`"));
    let mut now = report(10, 0);
    now.node = "judge".to_owned();
    assert!(refused(&now).contains("it is of the node `sort`, not of `judge`"));
    assert!(refused(&report(13, 0)).contains("only 10 of 13 cases are in both"));
    let mut now = report(10, 0);
    now.cases.iter_mut().take(2).for_each(|case| {
        case.failure = Some(Failure {
            category: Category::Network,
            message: "refused".to_owned(),
        });
    });
    assert!(refused(&now).starts_with("unfinished: outages left 2 of 10 cases without a score"));
    std::fs::write(&path, "{}").unwrap();
    assert!(matches!(
        report(10, 0).against(&path),
        Err(GateError::Format { .. })
    ));
}

#[test]
fn new_and_gone_cases_and_another_model_are_named() {
    let path = file("changed");
    baseline(&path, &report(20, 0));
    let mut now = report(22, 0);
    now.cases.remove(0);
    now.cases
        .iter_mut()
        .for_each(|case| case.model = Some("beta".to_owned()));
    let shown = now.against(&path).unwrap().to_string();
    assert!(
        shown.contains("\ncases: 2 (19, 20) new, 1 (row-000) gone"),
        "{shown}"
    );
    assert!(
        shown.contains("\nthe model changed from alpha to beta"),
        "{shown}"
    );
}

/// Three repeats of five cases fell by one of three, which McNemar's test of single runs could not see.
#[test]
fn repeats_are_compared_by_their_means() {
    let path = file("repeats");
    let mut then = report(40, 0);
    then.repeats = 9;
    baseline(&path, &then);
    let mut now = report(40, 0);
    now.repeats = 3;
    now.cases
        .iter_mut()
        .take(5)
        .for_each(|case| case.score = 2.0 / 3.0);
    let error = now.against(&path).unwrap_err();
    assert!(error.to_string().contains("p = 0.031"), "{error}");
}

#[tokio::test]
async fn a_fall_is_confirmed_before_the_test_fails() {
    let path = file("confirm");
    baseline(&path, &report(60, 0));
    let falls = std::cell::Cell::new(1);
    let evaluate = || {
        let wrong = if falls.replace(0) > 0 { 7 } else { 0 };
        std::future::ready(Ok(report(60, wrong)))
    };
    let verdict = Gate::new(&path.path)
        .margin(0.1)
        .confirm(evaluate)
        .await
        .unwrap();
    assert_eq!(verdict.kind, VerdictKind::NoWorse);
    let always = || std::future::ready(Ok(report(60, 7)));
    assert!(matches!(
        Gate::new(&path.path).confirm(always).await,
        Err(GateError::Worse { .. })
    ));
}

/// What a limit ends is unfinished, and never a fall.
#[tokio::test]
async fn a_limit_is_no_worse_prompt() {
    let path = file("limit");
    baseline(&path, &report(60, 0));
    let ended = || {
        let limit = NodeError::new(
            Category::LimitExceeded,
            "the limit of 5 requests is reached",
        );
        std::future::ready(Err(limit))
    };
    let error = Gate::new(&path.path).confirm(ended).await.unwrap_err();
    assert!(matches!(&error, GateError::Evaluation(_)));
    assert_eq!(
        error.to_string(),
        "unfinished: limit_exceeded: the limit of 5 requests is reached"
    );
}

#[test]
fn times_of_repeats_are_means_and_what_they_used_is_a_sum() {
    let mark = crate::dataset::Mark {
        name: "a".to_owned(),
        must: true,
    };
    let merged =
        EvaluatedCase::of_repeats(vec![case(0, 1.0), case(1, 0.0), case(2, 1.0)], &mark).unwrap();
    assert_eq!(
        (merged.score, merged.lowest(), merged.scores.len()),
        (2.0 / 3.0, 0.0, 3)
    );
    assert_eq!(
        (merged.usage.requests, merged.elapsed),
        (3, Duration::from_millis(250))
    );
    assert_eq!(
        (merged.feedback.as_str(), merged.name.as_str(), merged.must),
        ("expected 1, got 2", "a", true)
    );
}

/// Who broke the prompt learns at once how much else fell.
#[test]
fn a_wrong_case_that_must_be_right_has_the_verdict_on_all_cases() {
    let path = file("beside");
    baseline(&path, &report(60, 0));
    let mut now = report(60, 20);
    now.cases[3].must = true;
    let error = now.against(&path).unwrap_err();
    let GateError::Must { cases, verdict } = &error else {
        panic!("{error}")
    };
    assert_eq!(cases.len(), 1);
    let verdict = verdict.as_ref().unwrap();
    assert_eq!(verdict.kind, VerdictKind::Worse);
    let shown = error.to_string();
    assert!(
        shown.contains("\nof all cases: worse: -0.333 over 60 cases"),
        "{shown}"
    );
}

#[test]
fn a_case_that_no_longer_must_be_right_is_named() {
    let path = file("no-must");
    let mut then = report(30, 0);
    then.cases[0].must = true;
    then.cases[1].must = true;
    baseline(&path, &then);
    // The first is gone, the second is unmarked.
    let mut now = report(30, 0);
    now.cases.remove(0);
    let verdict = now.against(&path).unwrap();
    assert_eq!(verdict.no_must, ["row-000", "row-001"]);
    let shown = verdict.to_string();
    assert!(
        shown.contains("\nhad to be right, and need not be now: 2 (row-000, row-001)"),
        "{shown}"
    );
}

/// A merge, a slip of the hand: such a file decides nothing.
#[test]
fn a_baseline_that_nobody_can_have_measured_is_refused() {
    let path = file("edited");
    baseline(&path, &report(2, 1));
    let written = std::fs::read_to_string(&path).unwrap();
    let line = r#"{"case":"row-001","score":1.0,"tokens":12,"elapsed_ms":250.0}"#;
    for (edited, message) in [
        (written.replace("1.0,", "5.0,"), "a score from 0 to 1"),
        (written.replace("1.0,", "-0.5,"), "a score from 0 to 1"),
        (written.replace("1.0,", "null,"), "invalid type: null"),
        (
            written.replace(line, &format!("{line},\n{line}")),
            "the case `row-001` is there twice",
        ),
        (
            written.replace("250.0", "-1"),
            "expected milliseconds of 0 or more",
        ),
        (format!("<<<<<<< ours\n{written}"), "expected value"),
    ] {
        std::fs::write(&path, edited).unwrap();
        let error = report(2, 1).against(&path).unwrap_err();
        assert!(matches!(error, GateError::Format { .. }), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    // What is only odd is read: a mark of the encoding, line ends of Windows, figures beyond all that was ever used.
    let odd = written
        .replace("\n", "\r\n")
        .replace("12,", "18446744073709551615,")
        .replace("250.0", "1e300");
    std::fs::write(&path, format!("\u{feff}{odd}")).unwrap();
    let verdict = report(2, 1).against(&path).unwrap();
    assert_eq!(verdict.tokens, Some([u64::MAX, 24]));
}

/// `.margin(5.0)` is no five points: nothing would ever be worse.
#[tokio::test]
async fn a_margin_that_is_no_share_is_refused_before_anything_is_asked() {
    for margin in [5.0, -0.1, f64::NAN, f64::INFINITY] {
        let gate = Gate::new(file("margin").path.clone()).margin(margin);
        assert!(matches!(
            gate.check(&report(3, 0)),
            Err(GateError::Margin { .. })
        ));
        let never =
            || -> std::future::Ready<Result<Evaluation, NodeError>> { panic!("a model was asked") };
        assert!(matches!(
            gate.confirm(never).await,
            Err(GateError::Margin { .. })
        ));
    }
}

#[tokio::test]
async fn without_a_baseline_no_model_is_asked() {
    let never =
        || -> std::future::Ready<Result<Evaluation, NodeError>> { panic!("a model was asked") };
    let error = Gate::new(file("unasked-none").path.clone())
        .confirm(never)
        .await
        .unwrap_err();
    let name = "without_a_baseline_no_model_is_asked";
    assert!(
        error.to_string().contains(&format!("LLMNODE_BLESS={name}")),
        "{error}"
    );
}

#[test]
fn nothing_at_all_is_not_compared() {
    let path = file("empty");
    baseline(&path, &report(0, 0));
    let error = report(0, 0).against(&path).unwrap_err();
    assert!(
        error.to_string().contains("only 0 of 0 cases are in both"),
        "{error}"
    );
}

/// Each case would be held against its neighbour.
#[test]
fn cases_of_a_program_that_have_moved_are_not_compared() {
    let path = file("moved");
    let of_program = |cases: usize| {
        let mut report = report(cases, 0);
        for (place, case) in report.cases.iter_mut().enumerate() {
            case.name = format!("#{place}");
        }
        report
    };
    baseline(&path, &of_program(20));
    assert!(of_program(20).against(&path).is_ok());
    let error = of_program(21).against(&path).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("it has 20 cases and there are 21"),
        "{error}"
    );
}

#[test]
fn only_a_thread_of_a_test_has_the_name_of_one() {
    let named = |thread: &str| {
        let builder = std::thread::Builder::new().name(thread.to_owned());
        let measured = builder.spawn(|| Measured::on_this_thread(1)).unwrap();
        measured.join().unwrap().test
    };
    assert_eq!(named("letters::are_sorted"), "are_sorted");
    assert_eq!(named("main"), "");
    assert_eq!(named("tokio-rt-worker"), "");
    let error = report(1, 0).against(file("unnamed")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("await it in the test itself, not in a spawned task"),
        "{error}"
    );
}
