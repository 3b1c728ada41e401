//! What is written in a form is read back, and no text is too odd to be read.

use llmnode_runtime::Reader;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::PromptParts;
use super::chat::{SectionReader, SectionValues};
use super::sections::split;
use super::text::{clean_doc, dedent, lines, prefix};
use crate::signature::{Demo, Field, Form, Signature};

fn signature() -> Signature {
    let field = |name: &str, schema: Value| Field::new(name, "", schema);
    let outputs = vec![
        field("text", json!({"type": "string"})),
        field("count", json!({"type": "integer"})),
        field("share", json!({"type": "number"})),
        field("sure", json!({"type": "boolean"})),
        field("kind", json!({"enum": ["a", "it's", "say \"x\""]})),
        field(
            "names",
            json!({"type": "array", "items": {"type": "string"}}),
        ),
        field("near", json!({"type": ["integer", "null"]})),
        field(
            "map",
            json!({"type": "object", "additionalProperties": {"type": "boolean"}}),
        ),
    ];
    let inputs = vec![field("letter", json!({"type": "string"}))];
    Signature {
        goal: "Sort.".to_owned(),
        inputs,
        outputs,
        thinks: false,
        form: Form::Chat,
        object: true,
        text: false,
    }
}

/// Outputs of the signature. A text begins and ends with a letter and has no line of a section: what is around it is not kept.
fn outputs() -> impl Strategy<Value = Map<String, Value>> {
    let text = "[a-z](?s:.{0,20})[a-z]".prop_filter("no section", |text| {
        split(text).is_empty() && !text.contains("]]")
    });
    let kind = prop_oneof![Just("a"), Just("it's"), Just("say \"x\"")];
    let near = prop_oneof![Just(Value::Null), any::<i32>().prop_map(Value::from)];
    let map = prop::collection::btree_map("[a-zé\" ]{0,6}", any::<bool>(), 0..3);
    let names = prop::collection::vec("(?s:.{0,8})", 0..4);
    (text, any::<i64>(), -1e9..1e9_f64, any::<bool>(), kind, names, near, map).prop_map(
        |(text, count, share, sure, kind, names, near, map)| {
            let all = json!({
                "text": text, "count": count, "share": share, "sure": sure, "kind": kind, "names": names, "near": near, "map": map
            });
            all.as_object().cloned().unwrap_or_default()
        },
    )
}

proptest! {
    #[test]
    fn an_answer_as_an_example_shows_it_is_read_as_its_values(outputs in outputs()) {
        let signature = signature();
        let mut values = outputs.clone();
        values.insert("letter".to_owned(), "x".into());
        let demos = [Demo::from_values(values)];
        let messages = PromptParts { signature: &signature, demos: &demos, inputs: &Map::new() }.messages();
        let answer = &messages[2].content;
        let Some(SectionValues { json, missing, .. }) = SectionReader::of(&signature).gather(answer, Reader::new()) else {
            return Err(TestCaseError::fail("no sections"));
        };
        // What is `null` may be left out where it is incomplete; such an example says so.
        prop_assert!(missing.is_empty(), "{missing:?}");
        let json = json.as_object().cloned().unwrap_or_default();
        // A text is put together of its lines with `\n`, so one more `\r` before a line end may become part of it.
        let plain = |map: &Map<String, Value>| {
            let mut map = map.clone();
            let lines = map["text"].as_str().unwrap_or_default().lines().map(|line| line.trim_end_matches('\r'));
            let text = lines.collect::<Vec<_>>().join("\n");
            map.insert("text".to_owned(), text.into());
            Value::Object(map)
        };
        prop_assert_eq!(plain(&json), plain(&outputs));
    }

    #[test]
    fn any_text_is_split(text in "(?s:.{0,60})", sections in prop::collection::vec("\\[\\[ ## [a-z ]{0,4} ## \\]\\](?s:.{0,9})\n", 0..5)) {
        let answer = format!("{text}\n{}", sections.concat());
        let found = split(&answer);
        prop_assert!(found.len() <= sections.len() + 1);
        let _ = SectionReader::of(&signature()).gather(&answer, Reader::new());
    }

    #[test]
    fn instructions_are_cleaned_once(text in "(?s:.{0,60})", name in "[a-zA-Z0-9_]{1,12}") {
        let cleaned = clean_doc(&text);
        prop_assert!(lines(&cleaned).len() <= lines(&text).len() + 1);
        let _ = dedent(&text);
        prop_assert!(prefix(&name).ends_with(':'));
    }
}
