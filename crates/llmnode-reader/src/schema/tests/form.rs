//! What a model is shown of a type whose schema its server does not enforce.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::OutputSchema;

fn form<T: JsonSchema + 'static>() -> String {
    OutputSchema::of::<T>().form().unwrap().text.clone()
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Guest {
    /// The guest's full name,
    /// without a title.
    guest: String,
    room: u16,
    breakfast: bool,
    nights: i32,
    rate: Option<f64>,
    /// Wishes, if "any".
    wishes: Vec<String>,
    #[serde(default)]
    remark: String,
}

#[test]
fn members_in_order_with_what_belongs_there() {
    assert_eq!(
        form::<Guest>(),
        "{\"guest\": \"<text: The guest's full name, without a title>\", \"room\": <whole number from 0 to 65535>, \
         \"breakfast\": <true or false>, \"nights\": <whole number>, \"rate\": <number> or null, \"wishes\": \
         [\"<text>\", ...] <Wishes, if 'any'>, \"remark\": \"<text>\" (may be left out)}"
    );
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
enum Kind {
    Bug,
    Wish,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "do")]
#[allow(dead_code)]
enum Step {
    Go { to: String },
    Wait { seconds: u8 },
}

/// A tree of cases.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Case {
    /// What it is about.
    kind: Kind,
    step: Step,
    within: Vec<Case>,
    counts: BTreeMap<String, u8>,
}

#[test]
fn enums_unions_maps_and_recursive_types() {
    assert_eq!(
        form::<Case>(),
        "A tree of cases\n{\"kind\": <one of \"Bug\", \"Wish\": What it is about>, \"step\": {\"do\": \"Go\", \"to\": \
         \"<text>\"}\nor {\"do\": \"Wait\", \"seconds\": <whole number from 0 to 255>}, \"within\": [<Case>, ...], \
         \"counts\": {\"<name>\": <whole number from 0 to 255>, ...}}\nwhere <Case> is the whole form again"
    );
}

#[test]
fn a_type_that_is_no_object_is_wrapped() {
    assert_eq!(form::<Kind>(), r#"{"value": <one of "Bug", "Wish">}"#);
    assert_eq!(
        form::<Vec<u8>>(),
        r#"{"value": [<whole number from 0 to 255>, ...]}"#
    );
}

#[test]
fn what_a_form_cannot_say_is_left_to_the_schema() {
    let schema = |value| OutputSchema::from_value("A", value);
    let not = serde_json::json!({"type": "object", "properties": {"a": {"not": {"type": "null"}}}});
    assert!(schema(not).form().is_none());
}

#[test]
fn a_copied_form_is_recognised_and_marks_of_a_text_are_not() {
    let schema = OutputSchema::of::<Guest>();
    let form = schema.form().unwrap();
    for copied in [
        &form.text,
        r#"{"guest": "<text: the guest's full name, without a title>"}"#,
        r#"{"guest": "<text: The guest's full name, without a title>", "room": 3}"#,
        "{\"room\":<whole number from 0 to 65535>}",
        r#"{"wishes": ["<text>"]}"#,
    ] {
        assert_eq!(
            form.is_repeated_in(copied),
            !copied.contains("the guest's full"),
            "{copied}"
        );
    }
    let copied_in = |text: &str| form.is_repeated_in(text);
    assert!(copied_in("So: {\"wishes\": [\"< text >\"], \"room\": 3} "));
    assert!(copied_in(
        "{\"remark\": \"<text>\" (may be left out), \"room\": 3"
    ));
    assert!(
        copied_in("{\"rate\": <number> or null, \"room\": 3") && copied_in("{\"remark\": \"<text>")
    );
    for own in [
        r#"{"guest": "<b>Hello</b>"}"#,
        r#"{"guest": "use <text> here"}"#,
        r#"{"guest": "<text>Hi</text>"}"#,
        r#"{"guest": "use: <text> here"}"#,
        r#"{"guest": "a:\"<text>\",b"}"#,
        "```json\n{\"guest\": \"one of: <text>, <number>\"}\n```",
        r#"{"guest": "<text>Hi</text>", "room": }"#,
        r#"{"guest": "use: <text> here", "room": }"#,
        "",
        "<text>",
    ] {
        assert!(!form.is_repeated_in(own), "{own}");
    }
}
