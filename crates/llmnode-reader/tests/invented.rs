//! Nothing that a model reads about a place contains a value that the place would take: small models copy it. Random types of all
//! formats that are checked here, and of bounds, in objects, lists, maps, alternatives and definitions, with wrong values of all kinds.
//!
//! Closed lists are the exception, as the list is the point there; and a bound has to be named.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use llmnode_reader::ask::{form, instruction, reminder};
use llmnode_reader::{OutputSchema, Reader};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A place that takes some values, and one that it takes.
#[derive(Clone, Debug)]
struct Place {
    schema: Value,
    right: Value,
    /// What may be said of it all the same.
    bounds: Vec<String>,
}

fn place(schema: Value, right: Value) -> Place {
    Place {
        schema,
        right,
        bounds: Vec::new(),
    }
}

fn text_place() -> impl Strategy<Value = Place> {
    let of_format = |format: &'static str, right: &'static str| {
        Just(place(
            json!({"type": "string", "format": format}),
            json!(right),
        ))
    };
    prop_oneof![
        of_format("date", "2026-11-30"),
        of_format("date-time", "2026-11-30T09:30:00Z"),
        of_format("partial-date-time", "2026-11-30T09:30:00"),
        of_format("uuid", "67e55044-10b1-426f-9247-bb680e5fe0c8"),
    ]
}

fn number_place() -> impl Strategy<Value = Place> {
    let bounded = (20_i64..1_000, 0_i64..500).prop_map(|(least, more)| {
        let schema = json!({"type": "integer", "minimum": least, "maximum": least + more});
        let bounds = vec![least.to_string(), (least + more).to_string()];
        Place {
            bounds,
            ..place(schema, json!(least))
        }
    });
    let multiple = (2_i64..90).prop_map(|of| {
        let schema = json!({"type": "integer", "multipleOf": of});
        Place {
            bounds: vec![of.to_string()],
            ..place(schema, json!(2 * of))
        }
    });
    let open = (20_i64..90).prop_map(|above| {
        let schema = json!({"type": "number", "exclusiveMinimum": above});
        Place {
            bounds: vec![above.to_string()],
            ..place(schema, json!(above + 1))
        }
    });
    prop_oneof![bounded, multiple, open]
}

/// A type with the place in it, the path of the place, and an answer with a value there.
#[derive(Clone, Debug)]
struct Type {
    schema: Value,
    answer: Value,
}

fn types(place: Place, wrong: Value) -> impl Strategy<Value = (Place, Value, Type)> {
    let leaf = Type {
        schema: place.schema.clone(),
        answer: wrong.clone(),
    };
    let within = proptest::collection::vec(0..6_u8, 1..4);
    within.prop_map(move |within| {
        let mut of = leaf.clone();
        for shape in within {
            of = around(of, shape);
        }
        // The answer is an object.
        let schema = json!({"type": "object", "properties": {"it": of.schema}, "required": ["it"]});
        (
            place.clone(),
            wrong.clone(),
            Type {
                schema,
                answer: json!({"it": of.answer}),
            },
        )
    })
}

fn around(of: Type, shape: u8) -> Type {
    let Type { schema, answer } = of;
    match shape {
        0 => Type {
            schema: json!({"type": "array", "items": schema}),
            answer: json!([answer]),
        },
        1 => Type {
            schema: json!({"type": "object", "properties": {"at": schema}, "required": ["at"]}),
            answer: json!({"at": answer}),
        },
        2 => Type {
            schema: json!({"type": "object", "additionalProperties": schema}),
            answer: json!({"key": answer}),
        },
        3 => Type {
            schema: json!({"anyOf": [schema, {"type": "null"}]}),
            answer,
        },
        4 => Type {
            schema: json!({"type": "object", "properties": {"other": {"type": "boolean"}, "at": schema}, "required": ["at", "other"]}),
            answer: json!({"other": true, "at": answer}),
        },
        _ => Type {
            schema: json!({"type": "array", "items": schema, "minItems": 1}),
            answer: json!([answer]),
        },
    }
}

fn wrong() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-zäöü .,:/-]{0,12}".prop_map(Value::from),
        "[0-9]{1,4}[-./:][0-9]{1,2}[-./:][0-9]{1,4}".prop_map(Value::from),
        "[0-9a-f]{8}-[0-9a-f]{3}".prop_map(Value::from),
        (0..15_i64).prop_map(Value::from),
        (5_000..90_000_i64).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!(1.5)),
    ]
}

fn cases() -> impl Strategy<Value = (Place, Value, Type)> {
    (prop_oneof![3 => text_place(), 1 => number_place()], wrong())
        .prop_flat_map(|(place, wrong)| types(place, wrong))
}

/// Whether a value of the member of an object is taken.
fn takes(schema: &OutputSchema, json: &str) -> bool {
    Reader::new()
        .conforming(&format!("{{\"v\": {json}}}"), schema)
        .is_ok()
}

/// One to three words, as they stand and within quotation marks.
fn candidates(text: &str) -> Vec<String> {
    let words: Vec<&str> = text
        .split([' ', '\n', ',', ';', '<', '>', '(', ')', '`'])
        .filter(|word| !word.is_empty())
        .collect();
    let windows = (1..=3).flat_map(|length| words.windows(length).map(|window| window.join(" ")));
    let quoted = text.split('"').map(str::to_owned);
    let trimmed = |word: String| word.trim_matches(['"', ':', '.', '[', ']']).to_owned();
    windows
        .chain(quoted)
        .map(trimmed)
        .filter(|word| !word.is_empty())
        .collect()
}

/// The text without a value, wherever it stands as a whole: `7`, and not that of `70`.
fn without(text: &str, written: &str) -> String {
    let mut kept = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices(written) {
        let end = at + written.len();
        let before = text[..at].chars().next_back();
        let after = text[end..].chars().next();
        let is_whole = !before.into_iter().chain(after).any(char::is_alphanumeric);
        if is_whole {
            kept.push_str(&text[from..at]);
            from = end;
        }
    }
    kept + &text[from..]
}

fn copied(place: &Place, schema: &OutputSchema, text: &str, written: &str) -> Option<String> {
    candidates(&without(text, written))
        .into_iter()
        .find(|word| {
            let is_bound = place.bounds.iter().any(|bound| bound == word);
            let json = [Value::from(word.as_str()).to_string(), word.clone()];
            !is_bound && json.iter().any(|json| takes(schema, json))
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn no_text_about_a_place_has_a_value_for_it((place, wrong, of) in cases()) {
        let alone = OutputSchema::from_value("place", json!({
            "type": "object", "properties": {"v": place.schema}, "required": ["v"],
        }));
        prop_assert!(takes(&alone, &place.right.to_string()), "{:?}", place);
        prop_assume!(!takes(&alone, &wrong.to_string()));

        let schema = OutputSchema::from_value("answer", of.schema.clone());
        let error = Reader::new().conforming(&of.answer.to_string(), &schema).err();
        let Some(error) = error else { return Ok(()) };
        let written = wrong.to_string();
        for violation in error.violations() {
            let said = violation.to_string();
            prop_assert_eq!(copied(&place, &alone, &said, &written), None, "in {:?} of {}", said, of.schema);
        }
        // Counts and bounds of other places stand in a form, too.
        if place.bounds.is_empty() {
            let shown = [Some(instruction(&schema)), form(&schema).map(str::to_owned), reminder(&schema)];
            for text in shown.into_iter().flatten() {
                prop_assert_eq!(copied(&place, &alone, &text, &written), None, "in {:?} of {}", text, of.schema);
            }
        }
    }
}
