//! The messages for rejected answers, word for word: each names the place, what is there and what to write.
#![allow(dead_code, reason = "the types are only read")]

use std::collections::BTreeMap;

use llmnode::{Exec, LlmOutput, Reader, Run, ScriptedModel, llm_node, llm_output};

#[llm_output]
#[derive(Debug)]
struct Order {
    id: u32,
    status: Status,
    lines: Vec<Line>,
    note: Option<String>,
}

#[llm_output]
#[derive(Debug)]
enum Status {
    Paid,
    Open,
    Cancelled,
}

#[llm_output]
#[derive(Debug)]
struct Line {
    article: String,
    unit_price: f64,
    #[schemars(range(min = 1, max = 99))]
    quantity: u8,
}

#[llm_output]
#[derive(Debug)]
enum Act {
    Wait,
    Look,
    Move { to: String, speed: u8 },
    Say(String),
    Pick(Vec<u8>),
}

#[llm_output]
#[derive(Debug)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[llm_output]
#[derive(Debug)]
#[serde(tag = "t", content = "c")]
enum Event {
    Key(char),
    Click { x: i32, y: i32 },
    Quit,
}

#[llm_output]
#[derive(Debug)]
#[serde(untagged)]
enum Find {
    Count(u8),
    Sure(bool),
    Text { text: String, page: u32 },
    Picture { url: String },
}

#[llm_output]
#[derive(Debug)]
#[serde(deny_unknown_fields)]
struct Config {
    unit_price: f64,
    #[serde(default)]
    retries: u8,
    #[schemars(length(min = 2, max = 4))]
    code: String,
}

#[llm_output]
#[derive(Debug)]
struct Holder {
    act: Act,
    find: Find,
    big: i64,
    large: u64,
    share: f64,
    pair: (u8, String),
    by_name: BTreeMap<String, Line>,
    maybe: Option<Shape>,
}

fn said<T: LlmOutput + std::fmt::Debug>(text: &str) -> Vec<String> {
    let error = Reader::new().exact(true).read::<T>(text).unwrap_err();
    error.violations().iter().map(ToString::to_string).collect()
}

fn fitted<T: LlmOutput + std::fmt::Debug>(text: &str) -> Vec<String> {
    let error = Reader::new().read::<T>(text).unwrap_err();
    error.violations().iter().map(ToString::to_string).collect()
}

#[test]
fn what_was_meant_is_said_with_what_is_wrong() {
    let paid = r#"(did you mean "Paid"?); allowed: "Paid", "Open", "Cancelled""#;
    assert_eq!(
        said::<Order>(
            r#"{"id": "300", "status": "paid",
                "lines": [{"article": 3, "unitPrice": "2 EUR", "quantity": "x"}, {"article": "a", "unit_prize": 1, "quantity": 1.0}, []]}"#
        ),
        [
            "id: is \"300\", expected integer from 0 to 4294967295".to_owned(),
            format!("status: is \"paid\", which is not allowed {paid}"),
            "lines[0]: has `unitPrice`, which must be written `unit_price`".to_owned(),
            "lines[0].article: is 3, expected string".to_owned(),
            "lines[0].unitPrice: is \"2 EUR\", expected number".to_owned(),
            "lines[0].quantity: is \"x\", expected integer from 1 to 99".to_owned(),
            "lines[1]: missing property `unit_price` (is it `unit_prize`?)".to_owned(),
            "lines[1].quantity: is 1.0, expected integer from 1 to 99; write 1".to_owned(),
            "lines[2]: is an array, expected object with `article`, `unit_price`, `quantity`"
                .to_owned(),
        ]
    );
    assert_eq!(
        said::<Config>(r#"{"unit_prize": 1, "retris": 1, "code": "ab"}"#),
        [
            "missing property `unit_price` (is it `unit_prize`?)",
            r#"unknown property `retris` (did you mean "retries"?); allowed: "unit_price", "retries", "code""#,
        ],
        "what lacks and is misspelled is one fault"
    );
    assert_eq!(
        said::<Config>(r#"{"unitPrice": 1, "retris": 1, "code": 7}"#),
        [
            "has `unitPrice`, which must be written `unit_price`",
            r#"unknown property `retris` (did you mean "retries"?); allowed: "unit_price", "retries", "code""#,
            "code: is 7, expected string of 2 to 4 characters",
        ]
    );
    assert_eq!(
        said::<Order>(r#"{"id": 1, "status": {"Paid": {}}, "lines": []}"#),
        [r#"status: is an object with `Paid`; write the string "Paid" in its place"#]
    );
    assert_eq!(
        said::<Config>(r#"{"unit_price": 1, "code": "a"}"#),
        ["code: has 1 character, must have at least 2"]
    );
}

#[test]
fn of_an_object_under_a_member_too_many_it_is_told_what_is_wrong_in_it() {
    assert_eq!(
        fitted::<Order>(r#"{"order": {"id": "x", "status": "Paid", "lines": []}}"#),
        ["id: is \"x\", expected integer from 0 to 4294967295".to_owned()]
    );
    let other = fitted::<Order>(r#"{"weather": {"wind": 3}}"#);
    assert_eq!(
        other,
        ["id", "status", "lines"].map(|name| format!("missing property `{name}`"))
    );
}

#[test]
fn a_variant_is_told_how_it_is_written() {
    let all = r#"write one of "Wait", "Look", {"Move": ..}, {"Say": ..}, {"Pick": ..}"#;
    for (text, message) in [
        (
            r#"{"Wait": {}}"#,
            r#"is an object with `Wait`; write the string "Wait" in its place"#.to_owned(),
        ),
        (
            r#""Move""#,
            r#"is "Move", which needs its content; write {"Move": {"to": .., "speed": ..}}"#
                .to_owned(),
        ),
        (
            r#""Pick""#,
            r#"is "Pick", which needs its content; write {"Pick": [..]}"#.to_owned(),
        ),
        (
            r#"{"Move": {"to": "A", "speed": 1}, "Say": "x"}"#,
            "has `Move` and `Say`; only one of them is allowed".to_owned(),
        ),
        (
            r#"{"Move": {"to": "A", "speed": 1}, "x": 1}"#,
            r#"unknown property `x`; allowed: "Move""#.to_owned(),
        ),
        (
            r#"{"Move": {"to": "A", "speed": "1"}}"#,
            "Move.speed: is \"1\", expected integer from 0 to 255".to_owned(),
        ),
        (
            r#""look""#,
            format!(r#"is "look" (did you mean "Look"?); {all}"#),
        ),
        (
            r#"{"move": {}}"#,
            format!(r#"has the member `move` (did you mean "Move"?); {all}"#),
        ),
        (r#""Jump""#, format!(r#"is "Jump"; {all}"#)),
        (
            r#"{"type": "Move", "to": "A"}"#,
            format!("is an object with none of the allowed names; {all}"),
        ),
        ("7", format!("is 7; {all}")),
    ] {
        assert_eq!(said::<Act>(text), [message], "{text}");
    }
}

#[test]
fn forms_of_other_unions_are_told_by_their_members() {
    let all = "integer from 0 to 255 or boolean or object with `text`, `page` or object with `url`";
    for (text, message) in [
        ("[]", format!("is an array, expected {all}")),
        ("300", "is 300, must be at most 255".to_owned()),
        (
            r#"{"txt": "a"}"#,
            "matches none of the allowed forms: object with `text`, `page`; or object with `url`"
                .to_owned(),
        ),
        (
            r#"{"text": "a", "page": "2"}"#,
            "page: is \"2\", expected integer from 0 to 4294967295".to_owned(),
        ),
    ] {
        assert_eq!(said::<Find>(text), [message], "{text}");
    }
    for (text, message) in [
        (
            r#"{"kind": "Circle", "radius": 1}"#,
            r#"kind: is "Circle", which is not allowed (did you mean "circle"?); allowed: "circle", "square""#,
        ),
        (
            r#"{"Circle": {"radius": 1}}"#,
            r#"missing property `kind`; allowed: "circle", "square""#,
        ),
        (
            r#"{"kind": "circle", "radius": 1e999}"#,
            "radius: is 1e999, which is too large; must be within ±1.7976931348623157e308",
        ),
    ] {
        assert_eq!(said::<Shape>(text), [message], "{text}");
    }
    for (text, message) in [
        (r#"{"t": "Key"}"#, "missing property `c`"),
        (
            r#"{"t": "Click", "x": 1, "y": 2}"#,
            "missing property `c`, which must contain `x`, `y`",
        ),
        (
            r#"{"t": "Quit", "c": 3}"#,
            "has `c`, which belongs to a different form than the other properties",
        ),
        (
            r#"{"t": "Key", "c": "ab"}"#,
            r#"c: is "ab", must be one character"#,
        ),
    ] {
        assert_eq!(said::<Event>(text), [message], "{text}");
    }
}

#[test]
fn numbers_that_no_type_holds_and_members_that_stand_twice_are_told_in_plain_words() {
    let wide = "must be an integer from -9223372036854775808 to 9223372036854775807";
    for text in ["9223372036854775808", "99999999999999999999"] {
        assert_eq!(said::<i64>(text), [format!("is {text}, {wide}")], "{text}");
    }
    let unsigned = "is 18446744073709551616, must be an integer from 0 to 18446744073709551615";
    assert_eq!(said::<u64>("18446744073709551616"), [unsigned]);
    assert_eq!(
        said::<BTreeMap<String, Vec<i64>>>(r#"{"a.b": [1, 99999999999999999999], "a": [2]}"#),
        [format!("a.b[1]: is 99999999999999999999, {wide}")]
    );
    for second in [1, 2] {
        let text = format!(r#"{{"id": 1, "id": {second}, "status": "Paid", "lines": []}}"#);
        assert!(said::<Order>(&text)[0].contains("twice"), "{text}");
    }
    let text = r#"{"a": [{"x": 1, "x": 2, "article": "a", "unit_price": 1, "quantity": 1}]}"#;
    assert!(
        said::<BTreeMap<String, Vec<Line>>>(text)[0].contains("the key \"x\" appears twice"),
        "{text}"
    );
}

#[test]
fn only_what_cannot_be_made_to_fit_is_told() {
    let text = r#"{"id": "7", "status": " paid ", "lines": [{"article": 3, "unit_price": "1.5", "quantity": "500"}, {"unit_price": "2 EUR", "article": "a", "quantity": "4"}]}"#;
    assert_eq!(
        fitted::<Order>(text),
        [
            "lines[0].quantity: is 500, must be at most 99",
            "lines[1].unit_price: is \"2 EUR\", expected number",
        ]
    );
    assert_eq!(
        fitted::<Order>(r#"{"id": "7", "status": "Paid or Open", "lines": []}"#),
        [
            r#"status: is "Paid or Open", which is not allowed; allowed: "Paid", "Open", "Cancelled""#
        ]
    );
}

#[test]
fn what_is_no_variant_is_not_made_the_content_of_one() {
    let all = r#"write one of "Wait", "Look", {"Move": ..}, {"Say": ..}, {"Pick": ..}"#;
    assert_eq!(fitted::<Act>("\"Jump\""), [format!("is \"Jump\"; {all}")]);
    assert_eq!(fitted::<Act>("[7]"), [format!("is an array; {all}")]);
    let reader = Reader::new();
    assert!(matches!(
        reader.read::<Act>("\"wait\"").unwrap().value,
        Act::Wait
    ));
    assert!(
        matches!(reader.read::<Act>(r#"{"Pick": 7}"#).unwrap().value, Act::Pick(items) if items == [7])
    );
}

#[llm_node(prompt = "How many?", output = u8)]
struct Count;

#[llm_node(prompt = "What now?", output = Act)]
struct Decide;

#[llm_node(prompt = "Paid?", output = Status)]
struct Judge;

async fn told<N: Exec<()>>(node: &N, answer: &str, good: &str) -> String {
    let model = ScriptedModel::new().reply(answer).reply(good);
    Run::new(model.clone()).call(node).retries(1).await.unwrap();
    model.requests()[1].messages.last().unwrap().content.clone()
}

#[tokio::test]
async fn the_reader_states_facts_and_the_node_asks_for_what_is_missing() {
    for (answer, fact, ask) in [
        ("{}", "is an object, expected integer from 0 to 255", ""),
        (
            "{\"value\": 1} or {\"value\": 2}",
            "two different JSON values, at line 1 column 1 and at line 1 column 17",
            "; answer with one JSON value only",
        ),
        ("300", "is 300, must be at most 255", ""),
        ("{\"value\": 300}", "value: is 300, must be at most 255", ""),
    ] {
        assert_eq!(
            Reader::new().read::<u8>(answer).unwrap_err().to_string(),
            fact
        );
        assert_eq!(
            told(&Count, answer, "{\"value\": 3}").await,
            format!(
                "That answer was not accepted:\n- {fact}{ask}\nAnswer again in full, with this corrected."
            )
        );
    }
}

#[tokio::test]
async fn an_answer_without_json_is_told_the_variants_where_no_name_stands_alone() {
    let said = told(&Decide, "I wait.", r#"{"value": "Wait"}"#).await;
    let all =
        r#"{"value": ..} with one of "Wait", "Look", {"Move": ..}, {"Say": ..}, {"Pick": ..}"#;
    assert!(
        said.contains(&format!(
            "no JSON in the answer; answer with one JSON value only: {all}\n"
        )),
        "{said}"
    );
    let said = told(&Judge, "The bill has been settled.", r#"{"value": "Paid"}"#).await;
    let all = r#"{"value": ..} with one of "Paid", "Open", "Cancelled""#;
    assert!(
        said.contains(&format!(
            "no JSON in the answer; answer with one JSON value only: {all}\n"
        )),
        "{said}"
    );
    let said = told(&Judge, r#"{"status": "Settled"}"#, r#"{"value": "Paid"}"#).await;
    assert!(
        said.contains("is an object, which is not allowed; allowed: \"Paid\","),
        "{said}"
    );
}
