//! Programs that DSPy saved, and what DSPy asks with them: `scripts/dspy-programs` makes them anew.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::plan::Plan;
use super::{dspy, open};
use crate::form::PromptParts;
use crate::signature::{Field, FieldFaults, Form, Signature, reasoning};

const CASES: &str = include_str!("../../tests/data/dspy-3.4.1.jsonl");

fn cases() -> impl Iterator<Item = Value> {
    CASES
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
}

fn declared(case: &Value) -> Signature {
    let fields = |key: &str| -> Vec<Field> {
        let all = case[key].as_array().unwrap().iter();
        all.map(|field| Field::new(field[0].as_str().unwrap(), "", field[1].clone()))
            .collect()
    };
    let thinks = case["think"] == true;
    let mut outputs = fields("outputs");
    outputs.splice(0..0, thinks.then(reasoning));
    let goal = String::new();
    Signature {
        goal,
        inputs: fields("inputs"),
        outputs,
        thinks,
        form: Form::Chat,
        object: true,
        text: false,
    }
}

fn load(case: &Value, text: &str) -> Result<Plan, super::ProgramError> {
    open::parse(text.as_bytes(), None, &declared(case), &|_| {
        FieldFaults::default()
    })
}

fn messages(plan: &Plan, inputs: &Map<String, Value>, form: Form) -> Vec<Value> {
    let signature = Signature {
        form,
        ..plan.signature.clone()
    };
    let messages = PromptParts {
        signature: &signature,
        demos: &plan.demos,
        inputs,
    }
    .messages();
    messages
        .iter()
        .map(|message| json!([message.role, message.content]))
        .collect()
}

/// Case 61.
#[test]
fn case_61_messages_are_those_of_dspy() {
    let (mut lists, mut same) = (0, 0);
    for case in cases() {
        let plan = load(&case, &case["program"].to_string())
            .unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
        let chat = case["chat"].as_array().unwrap().clone();
        let plain = case["json"].as_array().unwrap().iter().zip(&chat);
        let plain = plain
            .map(|(plain, common)| {
                if plain.is_null() {
                    common.clone()
                } else {
                    plain.clone()
                }
            })
            .collect();
        for (form, expected) in [(Form::Chat, chat.clone()), (Form::Json, plain)] {
            let written = messages(&plan, case["given"].as_object().unwrap(), form);
            lists += 1;
            if written == expected {
                same += 1;
                continue;
            }
            for (message, expected) in written
                .iter()
                .zip(&expected)
                .filter(|(message, expected)| message != expected)
                .take(1)
            {
                println!("{} {form:?}:\n  {message}\n  {expected}", case["name"]);
            }
        }
    }
    assert_eq!((same, lists), (842, 842));
}

/// What we write for DSPy is read by ourselves as what it was; `scripts/dspy-programs` has DSPy load the files.
#[test]
fn what_is_written_for_dspy_is_the_same_program() {
    let folder = std::env::var_os("LLMNODE_DSPY_WRITTEN");
    for case in cases() {
        let plan = load(&case, &case["program"].to_string()).unwrap();
        let written = dspy::write(&plan).unwrap();
        if let Some(folder) = &folder {
            let name = case["name"].as_str().unwrap();
            std::fs::write(Path::new(folder).join(format!("{name}.json")), &written).unwrap();
        }
        assert_eq!(
            load(&case, &written).unwrap(),
            Plan {
                temperature: None,
                max_tokens: None,
                ..plan
            },
            "{}",
            case["name"]
        );
    }
}
