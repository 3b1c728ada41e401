use llmnode_runtime::{Category, Usage};
use serde_json::{Value, json};

use super::*;
use crate::columns::columns;
use crate::evaluated_case::{EvaluatedCase, Failure};

/// A case whose answer has a team, and 20 tokens in half a second.
fn case(score: f64, output: Value) -> EvaluatedCase {
    let mut usage = Usage::default();
    usage.requests = 1;
    usage.total.known = 20;
    let case = json!({
        "score": score, "output": output, "model": "alpha", "usage": usage, "elapsed_ms": 500,
        "feedback": if score < 1.0 { "team: expected \"repairs\"" } else { "" },
        "fields": {"team": score, "urgent": 1.0},
    });
    serde_json::from_value(case).unwrap()
}

fn team(score: f64) -> EvaluatedCase {
    let team = if score < 1.0 { "roofers" } else { "repairs" };
    case(score, json!({"team": team, "urgent": true}))
}

fn report(cases: Vec<EvaluatedCase>) -> Evaluation {
    let mut report = Evaluation::new("sort", None, cases);
    report.metric = "exact".to_owned();
    report
}

const TABLE: &str = r#"0.750 → 0.750: +0.000 (95 %: -0.566 to +0.566), 1 better, 1 worse, p = 1.000: no more than noise

                          old           new
mean                    0.750         0.750  +0.000
team                    0.750         0.750  +0.000
urgent                  1.000         1.000  +0.000
tokens a repeat            80           100  +25 %
cost a repeat        0.000000      0.000000
seconds a case           0.50          0.50  +0 %

  fell  score           tokens            seconds
     1  1.000 → 0.000   20 → 25           0.50 → 0.50
        team: "repairs"                    │ team: "roofers"
        team: expected "repairs"

rose: 2"#;

#[test]
fn a_table_has_both_reports_beside_each_other_and_what_fell() {
    let old = report(vec![team(1.0), team(1.0), team(0.0), team(1.0)]);
    let mut new = report(vec![team(1.0), team(0.0), team(1.0), team(1.0)]);
    new.repeats = 2;
    for case in &mut new.cases {
        case.usage.requests = 2;
        case.usage.total.known = 50;
    }
    let compared = new.compare(&old).unwrap();
    let lines = format!("{compared:80}");
    assert_eq!(lines, TABLE, "\n{lines}");
    assert_eq!(compared.fields["team"].other, 0.75);
}

#[test]
fn what_is_compared_is_there_case_by_case() {
    let old = report(vec![team(1.0), team(0.5), team(1.0)]);
    let new = report(vec![team(0.5), team(1.0), team(0.0)]);
    let compared = new.compare(&old).unwrap();
    let fell: Vec<usize> = compared.fallen().iter().map(|case| case.place).collect();
    assert_eq!(fell, [2, 0], "the deepest first");
    assert_eq!(compared.cases[1].difference(), 0.5);
    assert_eq!(compared.usage().total.known, 60);
    assert!(compared.to_string().ends_with("\n\nrose: 1"), "{compared}");
}

#[test]
fn a_failed_case_has_its_reason_beside_the_old_answer_and_0_in_each_field() {
    let old = report(vec![team(1.0), team(1.0)]);
    let mut new = report(vec![team(1.0), team(0.0)]);
    new.cases[1].output = None;
    new.cases[1].fields.clear();
    new.cases[1].failure = Some(Failure {
        category: Category::SchemaError,
        message: "schema_error: no JSON in the answer".to_owned(),
    });
    let compared = new.compare(&old).unwrap();
    let shown = compared.to_string();
    assert!(
        shown.contains(r#"{"team":"repairs","urgent":true}   "#),
        "{shown}"
    );
    assert!(
        shown.contains("│ schema_error: no JSON in the answer"),
        "{shown}"
    );
    assert_eq!(compared.fields["urgent"].mean, 0.5);
    assert_eq!(new.fields()["urgent"], 0.5);
}

/// Whatever is in the answers, each line fits, and no character reaches the terminal that it would obey.
#[test]
fn lines_fit_whatever_the_answers_are() {
    let key = format!("sk-{}", "a1B2".repeat(10));
    let texts = [
        "\u{1b}[31mred\u{7}\r\n".repeat(9),
        "屋根が漏れています。".repeat(40),
        "e\u{301}".repeat(500),
        "👩‍👩‍👧 ".repeat(60),
        format!("the key is {key}"),
        String::new(),
        "x".repeat(100_000),
    ];
    let long = texts.iter().map(|text| case(0.0, json!(text)));
    let long: Vec<EvaluatedCase> = long.collect();
    let object = texts.iter().map(|text| case(1.0, json!({"team": text})));
    let old = report(object.collect());
    let new = report(long);
    for width in [0, 60, 77, 120] {
        let shown = format!("{:width$}", new.compare(&old).unwrap());
        let table = shown.split_once("\n\n").unwrap().1;
        for line in table.lines() {
            assert!(columns(line) <= width.max(60), "{width}: {line}");
            assert!(!line.contains(|c: char| c.is_control()), "{line}");
        }
        assert!(!shown.contains("a1B2"), "{shown}");
        assert!(
            shown.len() < 30_000,
            "long answers are cut: {}",
            shown.len()
        );
    }
    assert!(!format!("{:?}", new.compare(&old).unwrap()).contains("屋根"));
}

#[test]
fn many_that_fell_are_counted() {
    let old = report(vec![team(1.0); 30]);
    let new = report(vec![team(0.0); 30]);
    let shown = new.compare(&old).unwrap().to_string();
    assert!(shown.ends_with("\n10 more fell"), "{shown}");
    let shown = old.compare(&new).unwrap().to_string();
    assert!(shown.ends_with("18, 19 and 10 more"), "{shown}");
}

#[test]
fn scores_of_another_metric_are_not_compared() {
    let mut one = report(vec![team(1.0)]);
    let two = report(vec![team(1.0)]);
    one.metric = "contains".to_owned();
    let refused = one.compare(&two).unwrap_err();
    assert_eq!(refused.category(), Category::ConfigError);
    assert!(
        refused
            .to_string()
            .contains("scored by `contains` and `exact`"),
        "{refused}"
    );
}
