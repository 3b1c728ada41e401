//! An answer that is JSON but not of the type: the model gets every violation of the schema.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use llmnode::{Category, Exec, LlmOutput, Reader, Run, ScriptedModel, llm_node, llm_output};
use schemars::JsonSchema;
use serde::Deserialize;

/// What is wrong with a text as JSON of a type, one line each.
fn said<T: LlmOutput + std::fmt::Debug>(text: &str) -> Vec<String> {
    let error = Reader::new().read::<T>(text).unwrap_err();
    error.violations().iter().map(ToString::to_string).collect()
}

/// What the model is told about an answer.
async fn told<N: Exec<()>>(node: &N, answer: &str, good: &str) -> String {
    let model = ScriptedModel::new().reply(answer).reply(good);
    Run::new(model.clone()).call(node).retries(1).await.unwrap();
    model.requests()[1].messages.last().unwrap().content.clone()
}

#[llm_output]
#[derive(Debug)]
struct Order {
    id: u32,
    customer: Customer,
    lines: Vec<Line>,
    paid: bool,
}

#[llm_output]
#[derive(Debug)]
struct Customer {
    name: String,
    tier: Tier,
}

#[llm_output]
#[derive(Debug)]
enum Tier {
    Gold,
    Silver,
}

#[llm_output]
#[derive(Debug)]
struct Line {
    article: String,
    #[schemars(range(min = 1, max = 99))]
    count: u8,
}

#[llm_node(prompt = "Read the order.", output = Order)]
struct Read;

const GOOD: &str = r#"{"id": 1, "customer": {"name": "Ada", "tier": "Gold"}, "lines": [{"article": "a", "count": 1}], "paid": true}"#;

#[tokio::test]
async fn everything_that_is_wrong_is_told_at_once() {
    let answer = r#"{"id": "seven", "customer": {"tier": "Bronze"}, "lines": [{"article": "a", "count": 0}, 3], "paid": null}"#;
    assert_eq!(
        told(&Read, answer, GOOD).await,
        "That answer was not accepted:\n\
         - id: is \"seven\", expected integer from 0 to 4294967295\n\
         - customer: missing property `name`\n\
         - customer.tier: is \"Bronze\", which is not allowed; allowed: \"Gold\", \"Silver\"\n\
         - lines[0].count: is 0, must be at least 1\n\
         - lines[1]: is 3, expected object with `article`, `count`\n\
         - paid: is null, expected boolean\n\
         Answer again in full, with this corrected."
    );
}

#[tokio::test]
async fn a_bound_that_serde_does_not_know_is_kept_in_a_clean_answer() {
    let over = GOOD.replace("\"count\": 1", "\"count\": 100");
    assert!(
        told(&Read, &over, GOOD)
            .await
            .contains("\n- lines[0].count: is 100, must be at most 99\n")
    );
    let run = Run::new(ScriptedModel::new().reply(over));
    let error = run.call(&Read).await.unwrap_err();
    assert_eq!(error.category(), Category::SchemaError);
}

#[test]
fn bounds_are_kept_in_every_place() {
    #[derive(Debug, Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only read")]
    struct Bounded {
        #[schemars(length(min = 1, max = 2))]
        names: Vec<String>,
        #[schemars(length(max = 3))]
        code: String,
        #[schemars(range(min = 0.0, max = 1.0))]
        share: Option<f64>,
        #[schemars(extend("exclusiveMinimum" = 0, "multipleOf" = 5))]
        step: i64,
    }
    assert_eq!(
        said::<Vec<Bounded>>(
            r#"{"value": [{"names": [], "code": "äöüß", "share": 1.5, "step": 0},
                          {"names": ["a"], "code": "äöü", "share": null, "step": 7}]}"#
        ),
        [
            "value[0].names: has 0 items, must have at least 1",
            "value[0].code: has 4 characters, must have at most 3",
            "value[0].share: is 1.5, must be at most 1.0",
            "value[0].step: is 0, must be more than 0",
            "value[1].step: is 7, must be a multiple of 5",
        ]
    );
    let good = r#"[{"names": ["a", "b"], "code": "abc", "share": 1, "step": 5}]"#;
    assert!(Reader::new().read::<Vec<Bounded>>(good).is_ok());
}

#[test]
fn what_serde_takes_is_taken_whatever_else_the_schema_says() {
    let set = Reader::new()
        .read::<BTreeSet<u8>>(r#"{"value": [1, 1]}"#)
        .unwrap();
    assert_eq!(set.value.len(), 1, "a set may be given an item twice");
    let map = Reader::new()
        .read::<HashMap<u8, bool>>(r#"{"7": true}"#)
        .unwrap();
    assert!(map.value[&7]);
    assert_eq!(
        said::<BTreeMap<u8, bool>>(r#"{"7": 1}"#),
        ["7: is 1, expected boolean"]
    );
    let key = r#"has the key "x", must be a whole number, in digits"#;
    assert_eq!(said::<BTreeMap<i8, bool>>(r#"{"x": true}"#), [key]);
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
#[serde(untagged)]
enum Find {
    Text { text: String, page: u32 },
    Picture { url: String },
    Nothing(bool),
}

#[llm_output]
#[derive(Debug)]
#[serde(rename_all = "snake_case")]
enum Command {
    Stop,
    Go { to: String, speed: u8 },
    Say(String),
}

#[test]
fn of_a_union_the_form_that_was_meant_is_told() {
    for (said, expected) in [
        (
            said::<Shape>(r#"{"kind": "circle", "side": 2}"#),
            "missing property `radius`",
        ),
        (
            said::<Vec<Shape>>(r#"[{"kind": "triangle"}]"#),
            r#"[0].kind: is "triangle", which is not allowed; allowed: "circle", "square""#,
        ),
        (
            said::<Shape>("{\"radius\": 1}"),
            r#"missing property `kind`; allowed: "circle", "square""#,
        ),
        (said::<Find>(r#"{"text": "a"}"#), "missing property `page`"),
        (
            said::<Find>(r#"{"url": true}"#),
            "url: is true, expected string",
        ),
        (
            said::<Find>("7"),
            "is 7, expected object with `text`, `page` or object with `url` or boolean",
        ),
        (
            said::<Command>(r#"{"go": {"to": "A"}}"#),
            "go: missing property `speed`",
        ),
        (
            said::<Command>(r#"{"go": {"to": "A", "speed": "fast"}}"#),
            r#"go.speed: is "fast", expected integer from 0 to 255"#,
        ),
        (
            said::<Command>(r#"{"run": {}}"#),
            r#"has the member `run`; write one of "stop", {"go": ..}, {"say": ..}"#,
        ),
        (
            said::<Command>("\"run\""),
            r#"is "run"; write one of "stop", {"go": ..}, {"say": ..}"#,
        ),
        (
            said::<Option<Shape>>(r#"{"kind": "square", "side": "x"}"#),
            r#"side: is "x", expected number"#,
        ),
    ] {
        assert_eq!(said, [expected]);
    }
}

#[test]
fn what_only_serde_knows_is_told_in_its_words() {
    #[derive(Debug, Deserialize)]
    #[serde(try_from = "String")]
    struct Even(#[allow(dead_code, reason = "only read")] String);

    impl TryFrom<String> for Even {
        type Error = String;
        fn try_from(text: String) -> Result<Self, String> {
            if text.len().is_multiple_of(2) {
                Ok(Even(text))
            } else {
                Err("has an odd length".to_owned())
            }
        }
    }

    impl JsonSchema for Even {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Even".into()
        }
        fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
            String::json_schema(generator)
        }
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only read")]
    struct Pair {
        even: Even,
        number: u64,
        other: Vec<u8>,
    }

    assert_eq!(
        said::<Pair>(r#"{"even": "abc", "number": 1, "other": [300]}"#),
        [
            "other[0]: is 300, must be at most 255",
            "even: is \"abc\": has an odd length"
        ]
    );
    assert_eq!(
        said::<Pair>(
            r#"{"even": "ab", "number": 340282366920938463463374607431768211455, "other": []}"#
        )
        .len(),
        1
    );
}

#[tokio::test]
async fn of_a_thousand_faults_some_are_told() {
    let many = format!("[{}]", vec!["\"x\""; 100_000].join(","));
    let said = said::<Vec<u8>>(&many);
    assert_eq!(
        (said[0].as_str(), said.len()),
        ("[0]: is \"x\", expected integer from 0 to 255", 50)
    );
}
