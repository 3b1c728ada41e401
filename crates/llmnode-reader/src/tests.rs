//! What is read of which text. The page on reading has more of it, each row of
//! which is run; `tests/answers` has whole answers.
#![allow(dead_code, reason = "the types are only read")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Reader;
use super::counts::{self, Counts};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Item {
    name: String,
    count: u8,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Reading<T> {
    value: T,
    unit: String,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Filter {
    brand: Option<String>,
    max_price: Option<f64>,
    #[serde(alias = "kind")]
    category: Option<String>,
    colors: Option<Vec<Color>>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Color {
    Red,
    DarkBlue,
}

/// What is read of a text without a type, or the message.
fn value(text: &str) -> Result<Value, String> {
    Reader::new()
        .value(text)
        .map(|reading| reading.value)
        .map_err(|error| error.to_string())
}

fn typed<T: serde::de::DeserializeOwned + JsonSchema + 'static>(text: &str) -> Result<T, String> {
    Reader::new()
        .read(text)
        .map(|reading| reading.value)
        .map_err(|error| error.to_string())
}

fn flags(text: &str) -> Vec<String> {
    Reader::new()
        .value(text)
        .unwrap()
        .repairs
        .iter()
        .map(|repair| repair.flag.to_string())
        .collect()
}

#[test]
fn what_begins_first_owns_what_is_in_it() {
    let one = json!({"a": 1});
    for text in [
        "{\"a\": 1}",
        "\u{feff} {\"a\": 1}\n",
        "Here: {\"a\": 1}.",
        "```json\n{\"a\": 1}\n```",
        "```json {\"a\": 1} ```",
        "~~~\n{\"a\": 1}\n~~~",
        "Draft {\"a\": 2}\n```\n{\"a\": 1}\n```\nDone.",
        "As [3] and [12:30] say, {name} and {{name}} are {\"a\": 1} (see list[0], [docs](x)).",
        "<answer>{\"a\": 1}</answer>",
        "{\"a\": 1}\n{\"a\": 1}",
        "<think>{\"a\": 2}</think>{\"a\": 1}",
        "so {\"a\": 2}?</think>\n{\"a\": 1}",
        "{\"a\": 2} // so </think>{\"a\": 1}",
        "<|channel|>analysis<|message|>{\"a\": 2}<|end|><|start|>assistant<|channel|>final<|message|>{\"a\": 1}<|return|>",
        "```js\nconst a = {\n  a: 1,\n};\n```",
    ] {
        assert_eq!(value(text).as_ref(), Ok(&one), "{text}");
    }
    assert_eq!(value("3 /* so</think>4"), Ok(json!(4)));
    let code = json!({"code": "```rust\nlet x = {\"a\": 2};\n```"});
    assert_eq!(value(&format!("See {code}")), Ok(code));
    for (text, message) in [
        ("", "the answer is empty"),
        ("Sorry, [3] is all.", "no JSON in the answer"),
        ("Use {} here", "no JSON in the answer"),
        (
            "{\"a\": 1} or {\"a\": 2}",
            "two different JSON values, at line 1 column 1 and at line 1 column 13",
        ),
        (
            "```\n{\"a\": 1}\n```\n```\n{\"a\": 2}\n```",
            "two different",
        ),
        ("```\n{\"a\": 1}\n```\nNo: {\"a\": 2}", "two different"),
        ("{\"a\": 1} and {\"a\": ", "not complete"),
        ("{\"b\": {\"a\": 1}", "Ok"),
        ("x: [{\"a\": 1}, {\"b\": ", "not complete"),
        ("f({\"a\": 1})", "part of something larger"),
        ("{\"a\": 1}\n, \"b\": 2}", "seems to continue it"),
        ("{\"a\": 1}\n\"b\": 2}", "seems to continue it"),
        ("[null, {\"a\": 1}", "not complete"),
        ("[x, {\"a\": 1}", "not complete"),
        ("{\"a\": 1} // or {\"a\": 2}", "two different"),
        ("x {\"a\": [1 2]}, \"```\": 1, \"```\"} y", "invalid JSON"),
        ("```;", "no JSON"),
        ("\"x\": {\"a\": 1}, \"y\": 2}", "part of something larger"),
        ("{\"a\": 1}, \"b\": 2}", "seems to continue it"),
        (
            "```python\nimport json\nx = {\"a\": 1}\n```",
            "is part of code",
        ),
        ("<think>so {\"a\": 1}", "never ends"),
    ] {
        let read = value(text).map_or_else(|error| error, |_| "Ok".to_owned());
        assert!(read.contains(message), "{text}: {read}");
    }
}

#[test]
fn repairs_lose_nothing_and_are_flagged() {
    for (text, read, flag) in [
        (
            "{'a': 'b',}",
            json!({"a": "b"}),
            "repaired: quotes, repaired: comma",
        ),
        (
            "{a: hello you, b: None}",
            json!({"a": "hello you", "b": null}),
            "repaired: bare_key, repaired: bare_string, repaired: literal",
        ),
        ("{\"a\": 1 // one\n}", json!({"a": 1}), "repaired: comment"),
        (
            "{\"a\": 1\n\"b\": 2}",
            json!({"a": 1, "b": 2}),
            "repaired: comma",
        ),
        (
            "{\"a\": \"b\nc\"}",
            json!({"a": "b\nc"}),
            "repaired: control_character",
        ),
        (
            r#"{"a": "\gamma \\delta"}"#,
            json!({"a": "\\gamma \\delta"}),
            "repaired: escape",
        ),
        (
            "{\"a\": {\"b\": \"c\"",
            json!({"a": {"b": "c"}}),
            "repaired: closer",
        ),
        (r#"{\"a\": \"b\"}"#, json!({"a": "b"}), "repaired: quoted"),
        ("{\"a\":\u{a0}1}", json!({"a": 1}), "repaired: space"),
        (
            "{'a': 1, 'a': 1}",
            json!({"a": 1}),
            "repaired: quotes, repaired: duplicate_key",
        ),
    ] {
        assert_eq!(value(text), Ok(read), "{text}");
        assert_eq!(flags(text).join(", "), flag, "{text}");
        assert!(Reader::new().exact(true).value(text).is_err(), "{text}");
    }
    for (text, message) in [
        (
            r#"{"a": "\gamma + \tau"}"#,
            "so the other escapes of this string",
        ),
        (r#"{"a": "E:\maps\base"}"#, "backslash"),
        (
            r#"{"a": "\\srv\Share"}"#,
            "so the other escapes of this string",
        ),
        (r#"{"a": "\frac12"}"#, "form feed"),
        (r#"{"a": "\ud800"}"#, "half of a surrogate pair"),
        ("{\"a\": 1, \"a\": 2}", "appears twice"),
        ("{\"a\": 12345678901234567890123}", "cannot be held exactly"),
        ("{\"a\\nb\": 1e400}", "a b: is 1e400: number out of range"),
        ("{\"a\": [1, 2", "not complete"),
        ("{\"a\": 12", "not complete"),
        (
            "{\"a\": 1 // {\"b\": 2}",
            "a comment that seems to contain a property",
        ),
        ("{\"a\": [1, /* ... */ 2]}", "an ellipsis"),
        (
            "[\"a\", // \"b\", \"c\"\n]",
            "a comment that seems to contain an item",
        ),
        ("{\"a\": string}", "in place of a value"),
        ("{\"a\": \"say \"so twice\"}", "expected a comma"),
        ("[1,,2]", "a value is missing at this comma"),
        ("{\"a\": 012}", "may not begin with 0"),
        ("{\"a\": }", "a value is missing"),
        (&format!("{}{}", "[".repeat(200), "]".repeat(200)), "127"),
    ] {
        let read = value(text).map_or_else(|error| error, |value| value.to_string());
        assert!(read.contains(message), "{text}: {read}");
    }
}

#[test]
fn quotation_marks_within_a_string_are_read_where_they_can_be_read_in_one_way() {
    for (text, read) in [
        (
            r#"{"a": "She said "yes" and left.", "b": 1}"#,
            json!({"a": "She said \"yes\" and left.", "b": 1}),
        ),
        (
            r#"{"b": "", "a": ""Yes", she said, "b" too"}"#,
            json!({"b": "", "a": "\"Yes\", she said, \"b\" too"}),
        ),
        (
            r#"[{"a": "x "y""}, {"a": ["p "q", r s.", "t"]}]"#,
            json!([{"a": "x \"y\""}, {"a": ["p \"q\", r s.", "t"]}]),
        ),
        (
            r#"{"the "new" key": "a\nb "c" <d id="e">"}"#,
            json!({"the \"new\" key": "a\nb \"c\" <d id=\"e\">"}),
        ),
        (
            "{'a': 'it's', 'b': ['rock 'n' roll']}",
            json!({"a": "it's", "b": ["rock 'n' roll"]}),
        ),
        ("Sure: {“a”: “so “b” it is”}.", json!({"a": "so “b” it is"})),
    ] {
        assert_eq!(value(text), Ok(read), "{text}");
        assert!(
            flags(text).contains(&"repaired: escape".to_owned()),
            "{text}"
        );
        assert!(Reader::new().exact(true).value(text).is_err(), "{text}");
    }
    // Each may be read in another way: a comma, a quotation mark or the end may be missing.
    for text in [
        r#"{"a": "b, "c": "d"}"#,
        r#"{"a": "b "c": "d"}"#,
        r#"{"a": "He said "no", "b": "c" and left"}"#,
        r#"{"a": "use "b": "c" here"}"#,
        r#"{"a": "use "b", c: "d" here"}"#,
        r#"["a "b", "c" d"]"#,
        r#"["value1" value2", "value3"]"#,
        r#"["a" b", "c"]"#,
        r#"["hello,"world"]"#,
        r#"["a""b"]"#,
        r#"["a" "b" "c"]"#,
        r#"["a."."b"]"#,
        r#"{""a"": ""b""}"#,
        r#"{"a": ""b""}"#,
        r#"{"a": ""b"}"#,
        r#"{"k"e"y": 1}"#,
        r#"{"a": "a 24" screen"}"#,
        r#"{"a": "b"c"d"}"#,
        r#"{"a": "he said \"x\" and "y" too"}"#,
        r#"{"a": "he said "x" and wrote ""#,
        r#"{"a": "he said "x" and left""#,
        r#"{"a": "is {"b": "c"}, which is no text"}"#,
        "{\"a\": \"he said \"x\" and left\n\"}",
        "{\"a\": \"he said \"x\"\n \"b\": 1}",
        r#"{'a': 'it's, 'b': 'c'}"#,
        r#"{"a": "b "c" d"} or {"a": "b"}"#,
    ] {
        assert!(value(text).is_err(), "{text}: {:?}", value(text));
    }
}

#[test]
fn quotation_marks_within_strings_are_looked_at_in_linear_time() {
    for text in [
        r#"{"a":"-"-"-"-}"#,
        r#"{"a":"-"-"#,
        r#"{"a":"x "y" z",«"#,
        r#"{"a":"x "y" z",b"#,
        "{'a':\"-\"-",
        r#"["x "y" z" /*"#,
    ] {
        let marks = |times: usize| {
            counts::of(|| assert!(value(&text.repeat(times)).is_err(), "{text}")).marks
        };
        assert!(
            marks(4000) <= 2 * marks(2000) + 200,
            "{text}: {} and {}",
            marks(2000),
            marks(4000)
        );
    }
}

#[test]
fn a_tag_or_words_with_a_colon_before_an_object_make_it_a_candidate() {
    let one = json!({"a": 1});
    for text in [
        "The answer is: {a: 1}",
        "<answer>{a: 1}</answer>",
        "So:\n<json> {a: 1}",
        "1. Colon: {'a': 1,} and more",
    ] {
        assert_eq!(value(text).as_ref(), Ok(&one), "{text}");
    }
    assert_eq!(
        value("As [1] says: <answer type=\"x\">\n[3, 4]\n</answer>"),
        Ok(json!([3, 4]))
    );
    assert_eq!(value("It is <a>{}</a>."), Ok(json!({})));
    assert_eq!(typed::<Vec<u8>>("So: <answer>[3]</answer>!"), Ok(vec![3]));
    assert_eq!(
        typed::<Vec<Color>>("<answer>{\"colors\": \"red\"}</answer>"),
        Ok(vec![Color::Red])
    );
    for text in [
        "The set {a: 1} is",
        "f{a: 1}",
        "see <b>[3] and [4]</b>",
        "see <b>[3]</i>",
        "x > [3] < y",
        "<>{a: 1}</>",
    ] {
        assert!(value(text).is_err(), "{text}: {:?}", value(text));
    }
    // A tag is no fence, which wins over what is before it.
    assert!(
        value("{\"a\": 1} <b>{\"a\": 2}</b>")
            .unwrap_err()
            .contains("two different")
    );
    for text in ["{\"a\": .82}", "[.5, 1]", "{\"a\": -.5}", "{.5: 1}"] {
        assert!(!value(text).unwrap_err().contains("ellipsis"), "{text}");
    }
    for text in ["{\"a\": ...}", "{\"a\": 1, ...}", "[1, …]", "[1, ..]"] {
        assert!(value(text).unwrap_err().contains("ellipsis"), "{text}");
    }
}

#[test]
fn objects_that_each_fill_a_fence_or_a_numbered_item_are_a_list() {
    let nail = |count: u8| format!("{{\"name\": \"nail\", \"count\": {count}}}");
    let [one, two] = [nail(1), nail(2)];
    let items = |text: &str| {
        typed::<Vec<Item>>(text).map(|items| items.iter().map(|item| item.count).collect())
    };
    let fences = format!("First:\n```json\n{one}\n```\nSecond:\n```json\n{two}\n```\n");
    let numbers = format!("Here they are:\n\n1. {one}\n2. {two}\n\nAnything else?");
    for text in [&fences, &numbers, &format!("3) {one}\n\n  4) {two}")] {
        assert_eq!(items(text), Ok(vec![1, 2]), "{text}");
        assert!(
            value(text).is_err() && typed::<Item>(text).is_err(),
            "{text}"
        );
        let repairs = Reader::new().read::<Vec<Item>>(text).unwrap().repairs;
        assert!(
            repairs
                .iter()
                .any(|repair| repair.flag.to_string() == "repaired: lines"),
            "{repairs:?}"
        );
    }
    for text in [
        format!("{fences}\n{}", nail(3)),
        format!("{fences}\n```json\n{{\"name\": \n```"),
        format!("{numbers}\nOr {}", nail(3)),
        format!("1. {one}\n3. {two}"),
        format!("1. {one}\n2. so {two}"),
        format!("1. {one} or\n2. {two}"),
        format!("1. {one}\nThen:\n2. {two}"),
        format!("1. {one}\n2. {two} too"),
        format!("- {one}\n- {two}"),
        format!("{one} and {two}"),
    ] {
        assert!(items(&text).is_err(), "{text}: {:?}", items(&text));
    }
    assert!(
        Reader::new()
            .exact(true)
            .read::<Vec<Item>>(&fences)
            .is_err()
    );
}

#[test]
fn the_type_takes_what_it_loses_nothing_of() {
    let item = || {
        Ok(Item {
            name: "nail".into(),
            count: 3,
        })
    };
    for text in [
        r#"{"name": "nail", "count": "3"}"#,
        r#"{"Name": "nail", "COUNT": 3.0}"#,
        r#"{"item": {"name": "nail", "count": 3}}"#,
        r#"[{"name": "nail", "count": 3}]"#,
        r#"{"name": ["nail"], "count": [3], "why": "because"}"#,
        r#""{\"name\": \"nail\", \"count\": 3}""#,
        r#"{"other": 1} {"name": "nail", "count": 3} {"name": 7}"#,
    ] {
        assert_eq!(typed::<Item>(text), item(), "{text}");
    }
    assert_eq!(
        typed::<Vec<Item>>(
            "```\n{\"name\": \"nail\", \"count\": 3}\n{\"name\": \"nail\", \"count\": 3}\n```"
        )
        .unwrap()
        .len(),
        2
    );
    for text in [
        "dark_blue",
        "**Dark Blue**.",
        "\"DarkBlue\"",
        "{\"color\": \"dark-blue\"}",
        "```\ndark-blue\n```",
    ] {
        assert_eq!(typed::<Color>(text), Ok(Color::DarkBlue), "{text}");
    }
    assert_eq!(typed::<bool>("True."), Ok(true));
    assert_eq!(typed::<Option<u8>>("\"N/A\""), Ok(None));
    assert!(typed::<Option<u8>>("...").is_err() && typed::<Option<u8>>("\"").is_err());
    assert_eq!(typed::<Option<String>>("\"N/A\""), Ok(Some("N/A".into())));
    assert_eq!(
        typed::<Vec<Color>>("{\"value\": \"red\"}"),
        Ok(vec![Color::Red])
    );
    for text in [
        r#"{"name": "nail", "count": "1,000"}"#,
        r#"{"name": "nail", "count": "3 pieces"}"#,
        r#"{"name": "nail", "count": 300}"#,
        r#"{"error": {"name": "nail", "count": 3}}"#,
        r#"{"name": "buy", "arguments": {"name": "nail", "count": 3}}"#,
        r#"{"name": "string", "text": "string", "count": 3}"#,
        "nail",
    ] {
        assert!(typed::<Item>(text).is_err(), "{text}");
    }
    assert!(typed::<f64>("\"1.234\"").is_err() && typed::<f64>("\"0.234\"").is_ok());
    assert!(typed::<Vec<String>>("\"a, b\"").is_err() && typed::<Vec<Vec<u8>>>("[1, 2]").is_err());
    assert_eq!(
        (typed::<i32>("**-3**"), typed::<f32>("16777216")),
        (Ok(-3), Ok(16_777_216.0))
    );
    assert!(typed::<f32>("16777217").is_err() && typed::<i32>("- 3").is_err());
    assert!(
        typed::<f32>("1e39").is_err()
            && typed::<f32>("3e38").is_ok()
            && typed::<f64>("1e39").is_ok()
    );
    for (number, is_held) in [
        ("0.1", true),
        ("16777216", true),
        ("16777217", false),
        ("1e39", false),
    ] {
        let reading = format!(r#"{{"value": {number}, "unit": "K"}}"#);
        let map = format!(r#"{{"a": {reading}}}"#);
        let lists = format!(r#"{{"a": [{reading}]}}"#);
        assert_eq!(
            typed::<Reading<f32>>(&reading).is_ok(),
            is_held,
            "{reading}"
        );
        assert_eq!(
            typed::<BTreeMap<String, Reading<f32>>>(&map).is_ok(),
            is_held,
            "{map}"
        );
        assert_eq!(
            typed::<BTreeMap<String, Vec<Reading<f32>>>>(&lists).is_ok(),
            is_held,
            "{lists}"
        );
        assert!(
            typed::<BTreeMap<String, Reading<f64>>>(&map).is_ok(),
            "{map}"
        );
    }
    assert_eq!(
        typed::<f64>("6.02214076e+23"),
        Ok(6.022_140_76e23),
        "no whole number was meant"
    );
    assert_eq!(
        (
            typed::<f32>("1.2345678e20").is_ok(),
            typed::<f64>("9007199254740993").is_err()
        ),
        (true, true)
    );
    assert!(typed::<std::collections::BTreeMap<String, u8>>("{\"Oslo\": {\"x\": 1}}").is_err());
    assert!(typed::<Item>(r#"{"name": "nail", "count": 3, "Count": 4}"#).is_err());
    assert!(typed::<Color>("It is red.").is_err());
    assert!(typed::<std::collections::BTreeMap<String, f64>>("{\"error\": 429}").is_err());
}

#[test]
fn a_type_whose_members_may_all_be_absent_takes_no_stranger() {
    for text in [
        r#"{"error": "overloaded"}"#,
        r#"{"result": {}}"#,
        r#"{"message": "I cannot do that", "code": 3}"#,
        r#"{"brnad": "IKEA"}"#,
        r#"{"brand": "IKEA", "colours": ["red"]}"#,
        r#"{"type": "object", "properties": {"brand": {"type": "string"}}}"#,
        r#"{"name": "search", "arguments": {"brand": "IKEA"}}"#,
        r#"{"brand": "IKEA", "filter": {"brand": "IKEA", "max_price": 3}}"#,
        r#"{"status": "error", "category": "invalid", "message": "bad"}"#,
    ] {
        assert!(
            typed::<Filter>(text).is_err(),
            "{text}: {:?}",
            typed::<Filter>(text)
        );
    }
    let chair = typed::<Filter>(r#"{"kind": "chair"}"#).unwrap();
    assert_eq!(
        chair.category.as_deref(),
        Some("chair"),
        "serde knows an alias, the schema does not"
    );
    assert!(typed::<Filter>("{}").is_ok());
    let read = typed::<Filter>(
        r#"{"Brand": "IKEA", "maxPrice": "80", "colors": "dark blue", "why": "x"}"#,
    )
    .unwrap();
    assert_eq!(
        (read.max_price, read.colors),
        (Some(80.0), Some(vec![Color::DarkBlue]))
    );
}

#[test]
fn a_flattened_or_tagged_type_is_as_safe() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Outer {
        #[serde(flatten)]
        filter: Filter,
        page: Option<u8>,
    }
    assert!(typed::<Outer>(r#"{"error": "overloaded"}"#).is_err());
    assert_eq!(
        typed::<Outer>(r#"{"brand": "IKEA", "page": 2}"#)
            .unwrap()
            .filter
            .brand
            .as_deref(),
        Some("IKEA")
    );

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Either {
        Short { a: Option<u8> },
        Long { a: Option<u8>, b: Option<u8> },
    }
    assert_eq!(
        typed::<Either>(r#"{"a": 1}"#),
        Ok(Either::Short { a: Some(1) })
    );
    assert!(
        typed::<Either>(r#"{"a": 1, "b": 2}"#).is_err(),
        "serde would drop a member that another form knows"
    );

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Outcome {
        Good { text: Option<String> },
        Bad { code: u8 },
    }
    assert!(
        typed::<Outcome>(r#"{"code": 3}"#).is_err(),
        "serde would take the first form, without its member"
    );
    assert_eq!(
        typed::<Outcome>(r#"{"text": "x"}"#),
        Ok(Outcome::Good {
            text: Some("x".into())
        })
    );
}

#[test]
fn unions_in_recursion_end() {
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Tree {
        Not {
            of: Box<Tree>,
        },
        And {
            of: Box<Tree>,
            with: Option<Box<Tree>>,
        },
        Or {
            of: Box<Tree>,
            or: Option<Box<Tree>>,
        },
        Leaf(u8),
    }
    let deep = |levels: usize, leaf: &str| {
        format!("{}{leaf}{}", "{\"of\":".repeat(levels), "}".repeat(levels))
    };
    assert!(typed::<Tree>(&deep(3, "1")).is_ok());
    for leaf in ["1", "\"x\""] {
        let _ = typed::<Tree>(&deep(60, leaf));
    }
    assert!(typed::<Tree>(&deep(60, "\"x\"")).is_err());
}

#[test]
fn null_for_what_may_be_absent_is_read_at_once() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Line {
        name: String,
        #[serde(default)]
        shelf: u8,
        #[serde(default)]
        lines: Vec<Line>,
    }
    let line = |shelf| Line {
        name: "nail".to_owned(),
        shelf,
        lines: Vec::new(),
    };
    let text = r#"{"name": "nail", "shelf": null, "lines": [{"name": "nail", "lines" : null}]}"#;
    let mut read = Err(String::new());
    assert_eq!(counts::of(|| read = typed(text)), Counts::default());
    assert_eq!(
        read,
        Ok(Line {
            lines: vec![line(0)],
            ..line(0)
        })
    );
    assert_eq!(
        typed(r#"{"\u006eame": "nail", "shelf": null}"#),
        Ok(line(0))
    );
    for twice in [
        r#"{"name": "nail", "shelf": null, "shelf": 3}"#,
        r#"{"name": "nail", "shelf": 3, "shelf": null}"#,
    ] {
        assert!(typed::<Line>(twice).unwrap_err().contains("appears twice"));
    }
    assert!(
        typed::<Line>(r#"{"name": null}"#).is_err() && typed::<Line>(r#"["nail", 3, []]"#).is_err()
    );
}

#[test]
fn a_wrapper_named_for_an_error_is_none() {
    for text in [
        r#"{"Error": "I can't"}"#,
        r#"{"errors": "I can't"}"#,
        r#"{"REFUSAL": "I can't"}"#,
    ] {
        assert!(typed::<String>(text).is_err(), "{text}");
    }
    assert!(typed::<Vec<String>>(r#"{"errors": ["no such file"]}"#).is_err());
    assert_eq!(
        typed::<Vec<String>>(r#"{"files": ["a"]}"#),
        Ok(vec!["a".to_owned()])
    );
}

#[test]
fn each_step_is_made_once() {
    let of = |text: &str| counts::of(|| drop(typed::<Item>(text)));
    let once = Counts {
        walked: 1,
        parsed: 1,
        coerced: 1,
        read: 1,
        marks: 0,
    };
    let clean = r#"{"name": "nail", "count": 3}"#;
    assert_eq!(of(clean), Counts::default(), "serde reads it at once");
    assert_eq!(of(r#"{"name": "nail", "count": 3, "more": 1}"#), once);
    assert_eq!(of(r#"{'name': 'nail', 'count': 3}"#), once);
    assert_eq!(of(r#"{"name": "nail", "count": "3"}"#), once);
    let at_once = Counts {
        walked: 1,
        parsed: 1,
        coerced: 0,
        read: 0,
        marks: 0,
    };
    assert_eq!(of(&format!("Here: {clean}!")), at_once);
    assert_eq!(of(&format!("{{\"other\": 1}} and {clean}")).walked, 1);
}

/// A visitor of the program's own asks for names as it likes.
#[test]
fn a_struct_with_a_visitor_of_its_own_is_read() {
    use serde::de::{Deserializer, MapAccess, Visitor};

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Field {
        First,
        Second,
    }

    #[derive(Debug, PartialEq, JsonSchema)]
    #[schemars(deny_unknown_fields)]
    struct Pair {
        first: u8,
        second: u8,
    }

    struct PairVisitor;

    impl<'de> Visitor<'de> for PairVisitor {
        type Value = Pair;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a pair")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pair, A::Error> {
            let name: Option<&str> = map.next_key()?;
            assert_eq!(name, Some("first"));
            let first = map.next_value()?;
            let field: Option<Field> = map.next_key()?;
            assert_eq!(field, Some(Field::Second));
            let second = map.next_value()?;
            Ok(Pair { first, second })
        }
    }

    impl<'de> Deserialize<'de> for Pair {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            from.deserialize_struct("Pair", &["first", "second"], PairVisitor)
        }
    }

    let read = Reader::new().read::<Pair>(r#"{"first": 1, "second": 2}"#);
    assert_eq!(
        read.unwrap().value,
        Pair {
            first: 1,
            second: 2
        }
    );
}
