//! Files that something has happened to: faults, never a panic.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::open;
use crate::signature::{Field, FieldFaults, Form, Signature};

fn signature() -> Signature {
    let field = |name: &str| Field::new(name, "", json!({"type": "string"}));
    let (inputs, outputs) = (vec![field("question")], vec![field("answer")]);
    Signature {
        goal: "Answer.".to_owned(),
        inputs,
        outputs,
        thinks: false,
        form: Form::Own,
        object: true,
        text: false,
    }
}

const OURS: &str = r#"{"format": "llmnode/program", "version": 2, "node": "qa", "signature": {"inputs": {"question": {"type": "string"}},
    "outputs": {"answer": {"type": "string"}}, "think": false}, "form": "chat", "goal": "Answer.", "fields": {"answer": "short"},
    "demos": [{"question": "a", "answer": "b"}], "settings": {"temperature": 0.5, "max_tokens": 9}, "provenance": {"optimiser": "x"}}"#;
const DSPY: &str = r#"{"predict": {"traces": [], "train": [], "demos": [{"question": "a", "answer": "b"}], "signature": {"instructions":
    "Answer.", "fields": [{"prefix": "Question:", "description": "${question}"}, {"prefix": "Answer:", "description": "x"}]},
    "lm": {"temperature": 0.5, "max_tokens": 9}}, "metadata": {}}"#;

fn read(text: &str) -> bool {
    open::parse(text.as_bytes(), None, &signature(), &|_| {
        FieldFaults::default()
    })
    .is_ok()
}

/// Puts another value in the place of the one that is `at` places on.
fn replaced(value: &mut Value, at: &mut usize, with: &Value) {
    if *at == 0 {
        *value = with.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Object(members) => members
            .values_mut()
            .for_each(|value| replaced(value, at, with)),
        Value::Array(items) => items.iter_mut().for_each(|value| replaced(value, at, with)),
        _ => {}
    }
}

#[test]
fn both_files_are_read() {
    assert!(read(OURS) && read(DSPY));
}

proptest! {
    #[test]
    fn a_value_of_another_kind_is_a_fault_or_read(ours in any::<bool>(), at in 0_usize..30, with in prop_oneof![
        Just(json!(null)), Just(json!(-1)), Just(json!(1e300)), Just(json!("x")), Just(json!([])), Just(json!([1])), Just(json!({})),
        Just(json!({"a": {"b": 1}})), Just(json!(true))
    ]) {
        let mut file: Value = serde_json::from_str(if ours { OURS } else { DSPY }).map_err(|error| TestCaseError::fail(error.to_string()))?;
        replaced(&mut file, &mut at.clone(), &with);
        let _ = read(&file.to_string());
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..400) {
        let _ = open::parse(&bytes, None, &signature(), &|_| FieldFaults::default());
        let cut = (0..=cut.min(OURS.len())).rev().find(|cut| OURS.is_char_boundary(*cut)).unwrap_or_default();
        prop_assert!(cut == OURS.len() || !read(&OURS[..cut]));
    }
}
