use proptest::prelude::*;
use serde_json::json;

use super::*;

fn grown<'t>(pieces: impl IntoIterator<Item = &'t str>) -> IncrementalParser {
    let mut growing = IncrementalParser::default();
    pieces.into_iter().for_each(|piece| growing.push(piece));
    growing
}

fn of(text: &str) -> Option<Value> {
    let mut growing = grown([text]);
    growing.end();
    growing.value().cloned()
}

/// Whether one value is a part of another one that grew out of it.
fn is_part(part: &Value, of: &Value) -> bool {
    match (part, of) {
        (Value::String(part), Value::String(of)) => of.starts_with(part.as_str()),
        (Value::Array(part), Value::Array(of)) => {
            part.len() <= of.len() && part.iter().zip(of).all(|(part, of)| is_part(part, of))
        }
        (Value::Object(part), Value::Object(of)) => part
            .iter()
            .all(|(key, part)| of.get(key).is_some_and(|of| is_part(part, of))),
        (part, of) => part == of,
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[\"\\\\\n\t\u{1F600}é]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("\\PC{0,6}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn escaped(text: &str) -> String {
    let mut whole = String::new();
    for c in text.chars() {
        if c.is_ascii() {
            whole.push(c);
        } else {
            c.encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| whole += &format!("\\u{unit:04x}"));
        }
    }
    whole
}

proptest! {
    #[test]
    fn it_only_grows_and_ends_as_the_whole(
        value in json_value(),
        cuts in prop::collection::vec(0..2000usize, 0..12),
        pretty: bool,
        ascii: bool,
        around in 0..4usize,
    ) {
        let (before, behind) = [
            ("", ""),
            ("\u{feff}\n ", " "),
            ("Here it is:\n```json\n", "\n```\nDone."),
            ("<think>\n{\"a\": 1}\n</think>\n", "\n"),
        ][if value.is_array() || value.is_object() { around } else { around % 2 }];
        let written = if pretty { serde_json::to_string_pretty(&value)? } else { value.to_string() };
        let written = if ascii { escaped(&written) } else { written };
        // A float may be read as its neighbour.
        let value: Value = serde_json::from_str(&written)?;
        let text = format!("{before}{written}{behind}");
        let mut places: Vec<usize> = cuts.into_iter().map(|at| at % (text.len() + 1)).collect();
        places.retain(|at| text.is_char_boundary(*at));
        places.extend([0, text.len()]);
        places.sort_unstable();
        let mut growing = IncrementalParser::default();
        let mut last: Option<Value> = None;
        for pair in places.windows(2) {
            growing.push(&text[pair[0]..pair[1]]);
            if let (Some(last), now) = (&last, growing.value()) {
                prop_assert!(now.is_some_and(|now| is_part(last, now)), "{last} {now:?}");
            }
            last = growing.value().cloned();
        }
        growing.end();
        prop_assert_eq!(growing.value(), Some(&value));
    }

    #[test]
    fn it_never_panics(texts in prop::collection::vec("[\\[\\]{},:\"\\\\u0-9a-fntr <>/tuehik`\n\u{1F600}-]{0,12}", 0..20)) {
        let mut growing = IncrementalParser::default();
        let mut last: Option<Value> = None;
        for text in &texts {
            growing.push(text);
            let _ = growing.items(&[]);
            if let Some(last) = &last {
                prop_assert!(growing.value().is_some_and(|now| is_part(last, now)));
            }
            last = growing.value().cloned();
        }
        growing.end();
    }
}

#[test]
fn parts_appear_when_they_are_whole() {
    for (text, value) in [
        ("", None),
        ("{\"a", Some(json!({}))),
        ("{\"a\": ", Some(json!({}))),
        ("{\"a\": \"", Some(json!({"a": ""}))),
        ("{\"a\": \"\\ud83d", Some(json!({"a": ""}))),
        ("{\"a\": \"\\ud83d\\ude00", Some(json!({"a": "\u{1F600}"}))),
        ("{\"a\": \"x\\", Some(json!({"a": "x"}))),
        ("{\"a\": \"x\\\"", Some(json!({"a": "x\""}))),
        ("{\"a\": 1.5e", Some(json!({}))),
        ("{\"a\": 1.5e3}", Some(json!({"a": 1500.0}))),
        ("[tru", Some(json!([]))),
        ("[true,", Some(json!([true]))),
        ("12", Some(json!(12))),
        ("\"half of a te", Some(json!("half of a te"))),
    ] {
        assert_eq!(of(text), value, "{text}");
    }
}

#[test]
fn what_is_no_json_ends_it() {
    for (text, value) in [
        ("{\"a\": 1, \"a\": 2}", json!({"a": 1})),
        ("{\"a\": 1, b: 2}", json!({"a": 1})),
        ("{\"a\": \"\\d\", \"b\": 1}", json!({"a": ""})),
        ("[1, 2}", json!([1, 2])),
        ("[1] [2]", json!([1])),
    ] {
        assert_eq!(of(text), Some(value), "{text}");
    }
    let long = format!("{{\"{}\": 1}}", "k".repeat(2000));
    assert_eq!(of(&long), Some(json!({})));
    assert!(grown(["[".repeat(100_000).as_str()]).value().is_some());
}

#[test]
fn where_it_begins() {
    for (text, value) in [
        ("no JSON at all", None),
        ("I think {\"a\": 1} is it", None),
        ("[3] is a citation", Some(json!([3]))),
        ("As shown:\n[3] is a citation\n", None),
        ("As shown:\n[ {\"a\": 1}]\n", Some(json!([{"a": 1}]))),
        ("Sure.\n\n  {\"a\": 1}", Some(json!({"a": 1}))),
        ("```json\n[1, 2]\n```", Some(json!([1, 2]))),
        ("3 steps:\n{\"a\": 1}", Some(json!({"a": 1}))),
        ("<b>bold</b>\n{\"a\": 1}", Some(json!({"a": 1}))),
        (
            "[THINK]\n{\"b\": 1}\n[/THINK]{\"a\": 1}",
            Some(json!({"a": 1})),
        ),
        ("<think>\n{\"b\": 1}", None),
    ] {
        assert_eq!(of(text), value, "{text}");
        let pieces = grown(text.split_inclusive(|_| true));
        let mut pieces = pieces;
        pieces.end();
        assert_eq!(pieces.value().cloned(), value, "{text}");
    }
}

#[test]
fn items_are_complete() {
    let path = ["plan".to_owned(), "steps".to_owned()];
    let complete = |text: &str| grown([text]).items(&path).len();
    for (text, count) in [
        ("{\"plan\": ", 0),
        ("{\"plan\": {\"steps\": [", 0),
        ("{\"plan\": {\"steps\": [{\"a\": 1", 0),
        ("{\"plan\": {\"steps\": [{\"a\": 1}", 1),
        ("{\"plan\": {\"steps\": [{\"a\": 1}, \"te", 1),
        ("{\"plan\": {\"steps\": [{\"a\": 1}, \"te\"", 2),
        ("{\"plan\": {\"steps\": [{\"a\": 1}, \"te\", 1", 2),
        ("{\"plan\": {\"steps\": [{\"a\": 1}, \"te\", 1]", 3),
        ("{\"plan\": {\"steps\": [[1], [2", 1),
        ("{\"plan\": {\"steps\": [1], \"more\": [\"x", 1),
        ("{\"steps\": [1]}", 0),
        ("{\"plan\": {\"steps\": [\"x\\q\"", 0),
        ("{\"plan\": {\"steps\": [\"x\\ud800y\"", 0),
    ] {
        assert_eq!(complete(text), count, "{text}");
    }
    assert_eq!(grown(["[1, 2"]).items(&[]), [json!(1)]);
}

/// Pieces of text that come close to JSON.
const FRAGMENTS: [&str; 28] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\"a\":",
    "\"b\"",
    "\\",
    "\\u",
    "d83d",
    "\\ude00",
    "0",
    "1",
    "-",
    ".5",
    "e3",
    "true",
    "null",
    " ",
    "\n",
    "```json\n",
    "<think>",
    "</think>",
    "word",
    "\u{e9}",
    "\u{1F600}",
];

/// The next number of a sequence: SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[test]
#[ignore = "takes minutes: cargo test --release -p llmnode-reader growing -- --ignored"]
fn ten_million_texts_only_grow() {
    let mut state = 1;
    for number in 0..10_000_000 {
        let (mut growing, mut last): (IncrementalParser, Option<Value>) = Default::default();
        for _ in 0..next(&mut state) % 16 {
            growing.push(FRAGMENTS[next(&mut state) as usize % FRAGMENTS.len()]);
            if let Some(last) = &last {
                assert!(
                    growing.value().is_some_and(|now| is_part(last, now)),
                    "{number}: {last}"
                );
            }
            let complete = growing.items(&[]).len();
            assert!(
                complete
                    <= growing
                        .value()
                        .and_then(Value::as_array)
                        .map_or(0, Vec::len),
                "{number}"
            );
            last = growing.value().cloned();
        }
        growing.end();
    }
}
