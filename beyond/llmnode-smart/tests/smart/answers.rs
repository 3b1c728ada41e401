//! Answers in sections, compared with what DSPy reads from them: `scripts/dspy-programs` updates its results.

use std::collections::BTreeMap;

use llmnode::prelude::*;
use serde_json::Value;

#[llm_output]
#[derive(PartialEq)]
enum Kind {
    #[serde(rename = "very_good")]
    VeryGood,
    #[serde(rename = "bad")]
    Bad,
    #[serde(rename = "it's odd")]
    Odd,
}

#[llm_output]
struct Letter {
    text: String,
    count: i64,
    share: f64,
    sure: bool,
    kind: Kind,
    names: Vec<String>,
    near: Option<i64>,
    note: Option<String>,
    flags: BTreeMap<String, bool>,
}

#[llm_node(goal = "Read.", form = chat, output = Letter)]
struct Read {
    letter: String,
}

async fn read(answer: &str) -> Option<Value> {
    let run = Run::new(ScriptedModel::new().reply(answer.to_owned()));
    let letter = run.call(&Read { letter: "x".into() }).await.ok()?;
    Some(serde_json::to_value(letter).unwrap())
}

/// No answer is read as another value than DSPy reads, but for a text that is `None` or `null`, which DSPy takes for a text. What
/// we do not read is asked for again: `yes` for a truth, `+7`, `007`, `0x10`, `.5`, a list without its end.
#[tokio::test]
async fn answers_are_read_as_dspy_reads_them_or_asked_for_again() {
    let (mut same, mut neither, mut ours, mut theirs) = (0, 0, 0, 0);
    for line in include_str!("../data/dspy-answers-3.4.1.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let answer = row["answer"].as_str().unwrap();
        match (read(answer).await, row["read"].clone()) {
            (None, Value::Null) => neither += 1,
            (Some(_), Value::Null) => ours += 1,
            (None, _) => theirs += 1,
            (Some(own), mut wanted) => {
                if matches!(wanted["note"].as_str(), Some("None" | "null")) {
                    wanted["note"] = Value::Null;
                }
                assert_eq!(own, wanted, "{answer}");
                same += 1;
            }
        }
    }
    assert_eq!(
        (same, neither, ours, theirs),
        (303, 223, 36, 38),
        "the same, read by neither, by us alone, by DSPy alone"
    );
}
