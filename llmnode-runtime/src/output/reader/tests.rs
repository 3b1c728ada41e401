use std::collections::BTreeMap;

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::error::{Place, ReadError};
use super::find::Found;
use super::*;
use crate::flag::Flag;

mod again;
mod code;
mod doubtful;
mod found;
mod mangled;
mod repair;
mod thinking;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Item {
    name: String,
    #[serde(default)]
    count: i32,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Plan {
    plan_steps: Vec<Item>,
    size: Option<Size>,
    #[serde(default)]
    labels: BTreeMap<String, u8>,
}

fn of<T: DeserializeOwned + JsonSchema + 'static>(text: &str) -> Result<Read<T>, String> {
    let mut value = None;
    read(text, &OutputSchema::of::<T>(), Effort::Repair, &mut value)
        .map(|read| Read { value: value.unwrap(), notes: read.notes, unwrapped: read.unwrapped })
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | "))
}

fn item(name: &str, count: i32) -> Item {
    Item { name: name.into(), count }
}

fn flags(notes: &[Note]) -> Vec<Flag> {
    notes.iter().map(|note| note.flag).collect()
}

fn wanted(object: bool) -> Wanted {
    Wanted { object, repaired: true }
}

fn found(text: &str) -> (String, Vec<Flag>) {
    let found = find_json(text, wanted(true)).unwrap();
    (found.json.to_string(), flags(&found.notes))
}

fn refused(text: &str) -> String {
    find_json(text, wanted(true)).unwrap_err().to_string()
}

#[test]
fn clean_json_is_read_whole() {
    for text in [
        r#"{"name":"a","count":2}"#,
        "\u{feff} {\"name\": \"a\", \"count\": 2}\n",
        "\u{a0}{\"count\":2,\"name\":\"a\"}\u{200b}",
    ] {
        let read = of::<Item>(text).unwrap();
        assert_eq!(read.value, item("a", 2));
        assert_eq!((flags(&read.notes), read.unwrapped), (vec![], false));
    }
}

#[test]
fn fenced_json_is_read_and_says_so() {
    for text in [
        "```json\n{\"name\": \"a\"}\n```",
        "Here it is:\n\n```\n{\"name\": \"a\"}\n```\nI hope {this} helps.",
        "~~~JSON\r\n{\"name\": \"a\"}\r\n~~~\r\n",
        "  ````json5\n{\"name\": \"a\"}\n  ````",
        "```rust\nfn main() { let x = [1]; }\n```\nand\n```json\n{\"name\": \"a\"}\n```",
        "```json\n{\"name\": \"a\"}\n```\nAgain:\n```json\n{ \"name\" : \"a\" }\n```",
        "```json\n{\"name\": \"a\"}",
    ] {
        let read = of::<Item>(text).unwrap();
        assert_eq!((read.value, flags(&read.notes)), (item("a", 0), vec![Flag::Fenced]), "{text}");
    }
}

#[test]
fn json_between_words_is_read_and_says_so() {
    for text in [
        r#"Sure! {"name": "a"} Anything else?"#,
        r#"I use {braces} like {{this}}, see [1] and [the docs](url): {"name": "a"}"#,
        r#"{"name": "a"} {"name": "a"}"#,
        r#"```json {"name": "a"} ```"#,
        "It's {\"name\": \"a\"}}",
        "naïve {é} «{\"name\": \"a\"}»",
    ] {
        let read = of::<Item>(text).unwrap();
        assert_eq!((read.value, flags(&read.notes)), (item("a", 0), vec![Flag::InProse]), "{text}");
    }
    assert_eq!(find_json("Voilà: [{\"a\": 1}].", wanted(false)).unwrap().json, "[{\"a\": 1}]");
}

#[test]
fn a_list_is_no_object_and_nothing_inside_it_is_taken() {
    let said = |column| format!("the JSON at line 1 column {column} is no object");
    assert_eq!(refused("a [1] b [2]"), said(3));
    assert_eq!(refused(r#"[{"a": 1}] is it"#), said(1));
    assert_eq!(
        of::<Item>(r#"["a", 3]"#).unwrap_err(),
        said(1),
        "serde would read a struct from its fields' values"
    );
    assert_eq!(of::<Item>("3").unwrap_err(), said(1));
}

#[test]
fn two_different_values_are_no_answer() {
    let both = "two different JSON values, at line 1 column 3 and at line 2 column 4";
    assert_eq!(refused("é {\"a\": 1}\nor {\"a\": 2}"), both);
    let error = find_json("```\n{\"a\":1}\n```\n```\n{\"a\":2}\n```", wanted(true)).unwrap_err();
    let place = |line| Place { line, column: 1 };
    assert_eq!(error, ReadError::Ambiguous { first: place(2), second: place(5) });
    assert!(find_json("[1] or [2]", wanted(false)).is_err());
    assert!(find_json("[1] or {}", wanted(false)).is_err());
}

#[test]
fn broken_json_is_refused_with_its_place_and_never_entered() {
    assert_eq!(
        refused(r#"{"a": {"b": 1}, "c"#),
        r#"the JSON that begins at line 1 column 1 is not complete; it ends in `{"a": {"b": 1}, "c`"#
    );
    assert_eq!(
        refused("Here:\n{\"a\": {\"b\": 1},\n \"c\": 012, \"d\": 5}"),
        "invalid JSON at line 3 column 7: a number may not begin with 0; put a string in quotes, near `Here: {\"a\": {\"b\": 1},  \"c\": 012, \"d\": 5}`"
    );
    for inner in [
        "{'a': {\"b\": 1}; }",
        "{a: {\"b\": 1} x",
        "{ // note\n \"a\" {\"b\": 1} }",
        "[ x y\n z, {\"b\": 1}]",
    ] {
        assert!(find_json(inner, wanted(true)).is_err(), "{inner}");
    }
    assert_eq!(
        refused("{ see below } and no more"),
        "invalid JSON at line 1 column 7: expected a colon after the key, near `{ see below } and no more`"
    );
    assert_eq!(refused("none"), "no JSON in the answer");
    assert_eq!(refused(" "), "the answer is empty");
    assert!(
        refused("Draft {\"a\": 1}, final {\"a\": 2,}")
            .starts_with("two different JSON values, at line 1 column 7")
    );
    let long = refused(&format!("{{\"a\": \"{}\" b }}", "é\n".repeat(100_000)));
    assert!(long.len() < 300, "{long}");
}

#[test]
fn errors_name_the_place_in_json_names_and_what_is_allowed() {
    for (text, said) in [
        (r#"{"planSteps": [{"name": "a"}, {"name": 3}]}"#, "planSteps[1].name: is 3, expected string"),
        (r#"{"planSteps": [{"name": "a"}, {"count": 3}]}"#, "planSteps[1]: lacks the member `name`"),
        (
            r#"{"planSteps": [{"name": "a", "count": 3000000000}]}"#,
            "planSteps[0].count: is 3000000000, must be at most 2147483647",
        ),
        (
            r#"{"planSteps": [], "size": "medium"}"#,
            r#"size: is "medium", which is not allowed; allowed: "small", "large""#,
        ),
        (r#"{"planSteps": [], "labels": {"a": 300}}"#, "labels.a: is 300, must be at most 255"),
        (r#"So: {"planSteps": 1.5}"#, "planSteps: is 1.5, expected array"),
        (r#"{"planSteps": [], "planSteps": []}"#, "has the member `planSteps` twice; write it once"),
    ] {
        assert_eq!(of::<Plan>(text).unwrap_err(), said);
    }
    let long = format!(r#"{{"planSteps": [], "size": "{}"}}"#, "é".repeat(100_000));
    let said = of::<Plan>(&long).unwrap_err();
    assert!(said.len() < 1300 && said.ends_with(r#"allowed: "small", "large""#), "{said}");
}

#[test]
fn what_ignoring_passes_over_and_reading_does_not() {
    let half = "half a surrogate pair, which stands for no character, near";
    let said = |column| format!("invalid JSON at line 2 column {column}: {half}");
    let text = "{\"é\": 1,\n \"name\": \"x\\ud800\"}";
    assert!(of::<Item>(text).unwrap_err().starts_with(&said(12)), "{}", of::<Item>(text).unwrap_err());
    for text in [text, "So:\n[\"é\", \"a\\udc00\"]", "```\n[[\"\\ud800x\"]]\n```", "\n\"a \\ud800\""] {
        let error = read_value(text, Effort::Repair).unwrap_err()[0].to_string();
        assert!(
            error.starts_with("invalid JSON at line 2 column ") && error.contains(half),
            "{text}: {error}"
        );
    }
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    assert!(of::<Value>(&deep).unwrap_err().contains("column 128: too deep: JSON may be nested 127 times"));
    assert_eq!(
        of::<f64>(r#"{"value": 1e400}"#).unwrap_err(),
        "value: is 1e400, which is too large; must be within ±1.7976931348623157e308"
    );
}

#[test]
fn a_wrapped_value_is_unwrapped_and_a_bare_one_taken() {
    let read = of::<Vec<Item>>(r#"{"value": [{"name": "a"}]}"#).unwrap();
    assert_eq!((read.value, flags(&read.notes), read.unwrapped), (vec![item("a", 0)], vec![], true));
    let read = of::<Vec<Item>>(r#"[{"name": "a"}]"#).unwrap();
    assert_eq!((read.value, flags(&read.notes), read.unwrapped), (vec![item("a", 0)], vec![], false));
    let read = of::<Vec<Item>>("Voilà: [{\"name\": \"a\"}].").unwrap();
    assert_eq!(
        (read.value, flags(&read.notes), read.unwrapped),
        (vec![item("a", 0)], vec![Flag::InProse], false)
    );
    assert_eq!(of::<Size>("```\n{\"value\": \"small\"}\n```").unwrap().value, Size::Small);
    assert_eq!(of::<Size>("\"large\"").unwrap().value, Size::Large);
    assert_eq!(of::<i32>("42").unwrap().value, 42);
    assert_eq!(of::<Option<i32>>(r#"{"value": null}"#).unwrap().value, None);
    assert_eq!(
        of::<Vec<Item>>(r#"{"value": [{"name": "a"}, {}]}"#).unwrap_err(),
        "value[1]: lacks the member `name`"
    );
    assert_eq!(
        of::<BTreeMap<String, Value>>(r#"{"value": 1}"#).unwrap().value["value"],
        1,
        "a map is an object itself"
    );
    assert_eq!(
        of::<Option<i32>>("{}").unwrap_err(),
        "is an object, expected integer from -2147483648 to 2147483647 or null"
    );
    assert_eq!(of::<Vec<Item>>(r#"{"items": []}"#).unwrap_err(), "is an object, expected array");
}

#[test]
fn the_flag_tells_whether_the_value_came_wrapped() {
    let read = of::<Size>(r#""small""#).unwrap();
    assert!(!read.unwrapped, "paths of a bare value don't begin with `value`");
    assert!(of::<Size>(r#"{"value":"small"}"#).unwrap().unwrapped);
}

#[test]
fn a_null_for_an_absent_member_is_absent() {
    assert_eq!(of::<Item>(r#"{"name": "null", "count": null}"#).unwrap().value, item("null", 0));
    assert_eq!(of::<Item>(r#"{"name": "null", "count": 1}"#).unwrap().value, item("null", 1));
    assert_eq!(of::<Item>(r#"{"name": null, "count": null}"#).unwrap_err(), "name: is null, expected string");
    let plan =
        of::<Plan>(r#"{"planSteps": [{"name": "a", "count": null}], "size": null, "labels": null}"#).unwrap();
    assert_eq!(plan.value, Plan { plan_steps: vec![item("a", 0)], size: None, labels: BTreeMap::new() });
    assert_eq!(flags(&plan.notes), vec![]);
    let read = of::<Vec<Item>>(r#"{"value": [{"name": "a", "count": null}]}"#).unwrap();
    assert_eq!((read.value, read.unwrapped), (vec![item("a", 0)], true));
}

#[test]
fn a_null_is_dropped_before_an_untagged_enum_chooses() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Either {
        Counted {
            name: String,
            #[serde(default)]
            count: i32,
        },
        Named {
            name: String,
        },
    }
    let read = of::<Either>(r#"{"value": {"name": "a", "count": null}}"#).unwrap();
    assert_eq!(read.value, Either::Counted { name: "a".into(), count: 0 });
}

#[test]
fn hostile_texts_are_refused_on_a_small_stack() {
    let long = |part: &str| part.repeat(40_000 / part.len());
    let texts = [
        long("["),
        long("{"),
        long(r#"{"a":"#),
        long(r#"[{"a":"#),
        long("`"),
        long("```\n"),
        long("```json\n```\n"),
        long("~~~\n{}\n"),
        long("\""),
        long("{\""),
        long("{a}"),
        long("[x"),
        long("[x]{\n"),
        long("\n{"),
        long("é{ "),
        long("}{"),
        long("x = {"),
        long("f(1, {\"a\": "),
        long("\"a\": ["),
        long("{{\"a\" "),
        long("{\"a\": 1\n"),
        long("{\"a\": \"b\"\n"),
        long("{\"a\": true\n"),
        long("{\"a\": 1 // \"b\" "),
        long("[u'a"),
        long("[THINK]"),
        long("[/THINK]{"),
        long("<|start|>assistant<|channel|>"),
        long("{\"<|channel|>final"),
        long("[] [ ] "),
        long("{} { } "),
        format!("{}{}", long("{x "), long("}")),
        format!("x {}", long("{} ")),
        format!("{{\"a\": [{}]}} {}", long("1,2,").trim_end_matches(','), long("{} ")),
        format!("{}{}", long("["), long("]")),
    ];
    let read_all = move || {
        let read = texts.iter().filter(|text| find_json(text, wanted(true)).is_ok());
        read.map(|text| text[..7].to_owned()).collect::<Vec<_>>()
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(read_all).unwrap();
    assert_eq!(thread.join().unwrap(), ["~~~\n{}\n"], "many fences, and the same in each");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[{}\\[\\]`\"\\\\ \n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map("[a-z{}`\"]{0,4}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn text_of(value: &Value, pretty: bool) -> String {
    if pretty { serde_json::to_string_pretty(value).unwrap() } else { value.to_string() }
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>(), objects: bool) {
        let _ = find_json(&text, wanted(objects));
        let _ = of::<Plan>(&text);
    }

    #[test]
    fn no_text_of_json_like_parts_panics(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("{"), Just("}"), Just("["), Just("]"), Just("\""), Just(":"), Just(","), Just("\\"), Just("null"),
                Just("\"name\":\"a\""), Just("\"planSteps\":["), Just("```json\n"), Just("```"), Just("~~~"), Just("\n"),
                Just("é"), Just("\u{feff}"), Just("value"), Just("1"), Just("\"value\":"), Just(" "),
            ],
            0..40,
        ),
        objects: bool,
    ) {
        let text = parts.concat();
        if let Ok(Found { json, .. }) = find_json(&text, wanted(objects)) {
            prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok());
        }
        let _ = of::<Plan>(&text);
        let _ = of::<Vec<Item>>(&text);
        let _ = of::<Size>(&text);
    }

    #[test]
    fn valid_json_is_read_as_serde_json_reads_it(value in any_json(), pretty: bool) {
        let text = text_of(&value, pretty);
        let found = find_json(&text, wanted(false)).unwrap();
        prop_assert_eq!(found, Found { json: text.as_str().into(), notes: vec![], part: 0..text.len() });
        let wrapped = of::<Value>(&text_of(&json!({"value": value}), pretty)).unwrap();
        prop_assert_eq!(wrapped.value, serde_json::from_str::<Value>(&text).unwrap());
    }

    #[test]
    fn fenced_json_is_what_was_fenced(value in any_json(), pretty: bool, fence in "`{3,5}|~{3,5}", tag in "(json|JSON|)") {
        let json = text_of(&json!({"it": value}), pretty);
        let text = format!("Words {{here}}:\n{fence}{tag}\n{json}\n{fence}\nand [there].");
        prop_assert_eq!(found(&text), (json, vec![Flag::Fenced]));
    }

    #[test]
    fn json_in_prose_is_what_was_there(value in any_json(), pretty: bool) {
        let json = text_of(&json!({"it": value}), pretty);
        let text = format!("Words {{here}}: {json} and [there].");
        prop_assert_eq!(found(&text), (json, vec![Flag::InProse]));
    }

    #[test]
    fn a_cut_object_is_never_read(value in any_json(), cut in any::<proptest::sample::Index>()) {
        let json = json!({"it": value, "that": {"inner": true}}).to_string();
        let ends: Vec<usize> = json.char_indices().map(|(at, _)| at).collect();
        let text = &json[..ends[cut.index(ends.len())]];
        for object in [true, false] {
            let strict = Wanted { object, repaired: false };
            prop_assert!(find_json(text, strict).is_err());
            // All that may be added is what closes objects of which each member is whole.
            if let Ok(found) = find_json(text, wanted(object)) {
                let closed = (1..7).map(|braces| format!("{text}{}", "}".repeat(braces)));
                let closed: Vec<Value> = closed.filter_map(|text| serde_json::from_str(&text).ok()).collect();
                prop_assert_eq!(vec![serde_json::from_str::<Value>(&found.json).unwrap()], closed);
                prop_assert_eq!(flags(&found.notes), [Flag::Repaired(crate::flag::Repair::Closer)]);
            }
        }
    }
}

/// The first thing that is wrong with a text, and what the model is asked to do about it.
fn asked<T: DeserializeOwned + JsonSchema + std::fmt::Debug + 'static>(text: &str) -> String {
    let problems = read(text, &OutputSchema::of::<T>(), Effort::Repair, &mut None::<T>).unwrap_err();
    format!("{}; {}", problems[0], problems[0].ask)
}

#[test]
fn an_answer_without_json_is_told_what_was_wanted() {
    let no_json = "no JSON in the answer; answer with one JSON value only: ";
    assert_eq!(asked::<Item>("I cannot."), format!("{no_json}an object with `name`, `count`"));
    assert_eq!(asked::<Vec<Item>>("I cannot."), format!("{no_json}{{\"value\": ..}} with an array"));
    assert_eq!(
        asked::<Size>("I cannot."),
        format!("{no_json}{{\"value\": ..}} with one of \"small\", \"large\"")
    );
    assert_eq!(
        asked::<Item>(" "),
        "the answer is empty; answer with one JSON value: an object with `name`, `count`"
    );
    assert_eq!(asked::<Value>("no"), no_json.trim_end_matches(": "));
}
