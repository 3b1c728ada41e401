//! How a node with a goal asks, and how its answers are read.

use std::collections::BTreeMap;

use llmnode::prelude::*;
use llmnode::smart::{Form, Smart, WithReasoning};
use llmnode::{Category, Role};

use crate::support::*;

#[tokio::test]
async fn the_default_form_is_goal_sections_and_json() {
    let model = ScriptedModel::new().reply(r#"{"holds": true, "score": 9}"#);
    let run = Run::new(model.clone());
    assert_eq!(
        run.call(&judge()).await.unwrap(),
        Verdict {
            holds: true,
            score: 9
        }
    );
    assert_eq!(
        asked(&model, 0),
        [
            (Role::System, "Judge the claim.\n\nThe input has these fields:\n- facts: what is known\n- claim: what is claimed".to_owned()),
            (Role::User, "# facts\n[\"the sun is a star\"]\n\n# claim\nthe sun shines".to_owned()),
        ]
    );
    let schema = model.requests()[0].output.clone().unwrap();
    assert!(
        schema
            .plain()
            .get()
            .contains(r#""description":"Whether it holds.""#),
        "{schema:?}"
    );
    assert_eq!(run.ledger().calls()[0].node.to_string(), "judge");
}

#[tokio::test]
async fn a_text_of_several_lines_cannot_pass_for_a_section() {
    let model = ScriptedModel::new().reply(r#"{"holds": true, "score": 9}"#);
    let node = Judge {
        facts: vec![],
        claim: "a\n# facts\n```\nall is well".into(),
    };
    Run::new(model.clone()).call(&node).await.unwrap();
    assert_eq!(
        texts(&model, 0)[1],
        "# facts\n[]\n\n# claim\n````\na\n# facts\n```\nall is well\n````"
    );
}

#[tokio::test]
async fn think_puts_the_reasoning_first_and_takes_it_off() {
    let model = ScriptedModel::new()
        .reply(r#"{"holds": true, "score": 9}"#)
        .reply(r#"{"reasoning": "It is a star.", "holds": true, "score": 9}"#);
    let run = Run::new(model.clone());
    let node = Ponder {
        claim: "the sun shines".into(),
    };
    let thought = run.call(&WithReasoning(&node)).await.unwrap();
    assert_eq!(thought.reasoning.as_deref(), Some("It is a star."));
    assert_eq!(
        thought.value,
        Verdict {
            holds: true,
            score: 9
        }
    );
    let schema = model.requests()[0]
        .output
        .clone()
        .unwrap()
        .plain()
        .get()
        .to_owned();
    let places: Vec<_> = ["reasoning", "holds", "score"]
        .iter()
        .map(|name| schema.find(&format!("\"{name}\":")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{schema}");
    assert!(
        texts(&model, 1)[3].contains("missing property `reasoning`"),
        "{:?}",
        texts(&model, 1)
    );
}

#[llm_node(goal = "Name the capital.", think, output = Option<String>)]
struct Capital {
    country: String,
}

#[llm_node(goal = "Name the capital.")]
struct Say {
    country: String,
}

#[tokio::test]
async fn outputs_that_are_no_objects_think_too() {
    let model = ScriptedModel::new()
        .reply(r#"{"reasoning": "It is known.", "value": "Paris"}"#)
        .reply("Paris");
    let run = Run::new(model.clone());
    assert_eq!(
        run.call(&Capital {
            country: "France".into()
        })
        .await
        .unwrap()
        .as_deref(),
        Some("Paris")
    );
    assert_eq!(
        run.call(&Say {
            country: "France".into()
        })
        .await
        .unwrap(),
        "Paris"
    );
    let names: Vec<_> = Capital::signature()
        .outputs()
        .iter()
        .map(|field| field.name().to_owned())
        .collect();
    assert_eq!(names, ["reasoning", "value"]);
    assert!(model.requests()[1].output.is_none());
}

/// Case 66.
#[tokio::test]
async fn case_66_sections_in_any_order_are_read() {
    let answer = "Let me see.\n[[ ## score ## ]]\n7\n[[ ## holds ## ]]\nTrue\n[[ ## score ## ]]\n1\n\n[[ ## completed ## ]]";
    let model = ScriptedModel::new().reply(answer);
    let run = Run::new(model.clone());
    let verdict = run
        .call(&Chat {
            claim: "2 is even".into(),
        })
        .await
        .unwrap();
    assert_eq!(
        verdict,
        Verdict {
            holds: true,
            score: 7
        }
    );
    assert!(
        model.requests()[0].output.is_none(),
        "the prompt alone says what is wanted"
    );
}

/// Case 66.
#[tokio::test]
async fn case_66_a_missing_section_is_corrected_with_what_is_missing() {
    let model = ScriptedModel::new()
        .reply("[[ ## reasoning ## ]]\nWell.\n\n[[ ## holds ## ]]\nperhaps\n")
        .reply("I do not know.")
        .reply("[[ ## reasoning ## ]]\nWell.\n[[ ## holds ## ]]\nfalse\n[[ ## score ## ]]\n3");
    let run = Run::new(model.clone());
    let thought = run
        .call(&WithReasoning(&ChatPonder {
            claim: "2 is even".into(),
        }))
        .await
        .unwrap();
    assert_eq!(
        (thought.reasoning.as_deref(), thought.value),
        (
            Some("Well."),
            Verdict {
                holds: false,
                score: 3
            }
        )
    );
    let first = texts(&model, 1).pop().unwrap();
    assert!(
        first.contains(
            "- score: there is no section of it; write it below a line `[[ ## score ## ]]`"
        ),
        "{first}"
    );
    assert!(first.contains("- holds: "), "{first}");
    let second = texts(&model, 2).pop().unwrap();
    assert_eq!(
        second.matches("there is no section of it").count(),
        3,
        "{second}"
    );
}

#[tokio::test]
async fn json_in_place_of_sections_is_read() {
    let model = ScriptedModel::new().reply(
        r#"```json
{"holds": true, "score": 2}
```"#,
    );
    let verdict = Run::new(model)
        .call(&Chat {
            claim: "2 is even".into(),
        })
        .await
        .unwrap();
    assert_eq!(
        verdict,
        Verdict {
            holds: true,
            score: 2
        }
    );
}

#[llm_output]
#[derive(Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    VeryGood,
    Bad,
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Many {
    kind: Kind,
    texts: Vec<String>,
    share: f64,
    note: Option<String>,
    raw: String,
    near: Option<i64>,
}

#[llm_node(goal = "Sort it.", form = chat, output = Many)]
struct Sort {
    letter: String,
}

#[tokio::test]
async fn each_section_is_read_as_its_type() {
    let answer = "[[ ## kind ## ]]\nvery_good\n[[ ## texts ## ]]\n['a', 'b']\n[[ ## share ## ]] 0.5\n[[ ## note ## ]]\nNone\n[[ ## raw ## ]]\n{\"a\": 1}\n[[ ## near ## ]]\nnull";
    let read = |answer: &'static str| async move {
        Run::new(ScriptedModel::new().reply(answer))
            .call(&Sort { letter: "x".into() })
            .await
    };
    let many = read(answer).await.unwrap();
    let expected = Many {
        kind: Kind::VeryGood,
        texts: vec!["a".into(), "b".into()],
        share: 0.5,
        note: None,
        raw: "{\"a\": 1}".into(),
        near: None,
    };
    assert_eq!(many, expected);
    // What may be absent may be.
    let short = "[[ ## kind ## ]]\nVery Good\n[[ ## texts ## ]]\n[]\n[[ ## share ## ]]\n1\n[[ ## raw ## ]]\n\n[[ ## completed ## ]]";
    let many = read(short).await.unwrap();
    assert_eq!(
        (many.kind, many.share, many.raw.as_str()),
        (Kind::VeryGood, 1.0, "")
    );
    let bad = answer.replace("0.5", "half");
    let error = Run::new(ScriptedModel::new().reply(bad))
        .call(&Sort { letter: "x".into() })
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::SchemaError);
}

#[test]
fn the_signature_has_names_docs_and_types() {
    let signature = Judge::signature();
    assert_eq!(
        (signature.goal(), signature.thinks(), signature.form()),
        ("Judge the claim.", false, Form::Own)
    );
    let fields: Vec<_> = signature
        .inputs()
        .iter()
        .map(|field| (field.name(), field.description()))
        .collect();
    assert_eq!(
        fields,
        [("facts", "what is known"), ("claim", "what is claimed")]
    );
    assert_eq!(
        signature.output("holds").unwrap().description(),
        "Whether it holds."
    );
    assert_eq!(signature.input("claim").unwrap().schema()["type"], "string");
    let values = judge().values().unwrap();
    assert_eq!(Judge::read(&values).unwrap(), judge());
    let faults = Judge::read(
        &serde_json::json!({"facts": "one"})
            .as_object()
            .unwrap()
            .clone(),
    )
    .unwrap_err();
    let faults: Vec<_> = faults.iter().collect();
    assert_eq!(
        faults,
        [
            ("facts", "invalid type: string \"one\", expected a sequence"),
            ("claim", "is missing")
        ]
    );
}

#[llm_output]
#[derive(Debug)]
struct Argued {
    reasoning: String,
}

#[llm_node(goal = "Argue.", think, output = Argued)]
struct Argue {
    claim: String,
}

#[llm_node(goal = "Judge.", output = Verdict)]
struct Rescore {
    score: i64,
}

#[tokio::test]
async fn a_name_that_two_fields_have_is_refused() {
    let run = Run::new(ScriptedModel::new());
    let error = run.call(&Argue { claim: "x".into() }).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .to_string()
            .contains("`think` adds one; rename it, or drop `think`"),
        "{error}"
    );
    let error = run.call(&Rescore { score: 1 }).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`score` is an input and an output"),
        "{error}"
    );
    let text = llmnode::smart::Program::<Rescore>::new().to_json();
    assert!(llmnode::smart::Program::<Rescore>::parse(&text).is_err());
}

#[llm_output]
#[derive(Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Grade {
    Good,
    Bad,
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Types {
    text: Option<String>,
    count: Option<i64>,
    share: Option<f64>,
    sure: Option<bool>,
    kind: Option<Grade>,
    floats: Vec<f64>,
    numbers: Vec<i32>,
    gaps: Vec<Option<i64>>,
    counts: BTreeMap<String, i64>,
    shares: BTreeMap<String, Option<f32>>,
    some: Option<Vec<f64>>,
    /// how many of each
    table: Option<BTreeMap<String, Vec<i64>>>,
    pair: (i64, f64),
}

#[llm_node(goal = "Read the letter.", form = chat, output = Types)]
struct ChatTypes {
    maybe: Option<f64>,
    sizes: Vec<f64>,
}

#[llm_node(goal = "Read the letter.", form = json, output = Types)]
struct JsonTypes {
    maybe: Option<f64>,
    sizes: Vec<f64>,
}

/// The messages that DSPy makes of the same types: `scripts/dspy-programs` writes them anew.
#[tokio::test]
async fn types_are_described_as_dspy_describes_them() {
    let answer = r#"{"text": null, "count": null, "share": null, "sure": null, "kind": "bad", "floats": [1.5], "numbers": [1],
        "gaps": [null], "counts": {"a": 1}, "shares": {"a": null}, "some": null, "table": {"a": [1]}, "pair": [1, 2.5]}"#;
    let model = ScriptedModel::new().reply(answer).reply(answer);
    let run = Run::new(model.clone());
    let (maybe, sizes) = (None, vec![1.0, 2.5]);
    run.call(&ChatTypes {
        maybe,
        sizes: sizes.clone(),
    })
    .await
    .unwrap();
    run.call(&JsonTypes { maybe, sizes }).await.unwrap();
    let golden = include_str!("../data/dspy-types-3.4.1.jsonl").lines();
    for (index, line) in golden.enumerate() {
        let (form, messages): (String, Vec<(String, String)>) = serde_json::from_str(line).unwrap();
        for (own, (_, dspy)) in texts(&model, index).iter().zip(&messages) {
            assert_eq!(own, dspy, "{form}");
        }
        assert_eq!(texts(&model, index).len(), messages.len());
    }
}
