//! `#[cfg]` and `#[cfg_attr]` on whole items, and inside of them.

use llmnode::{Invalid, Node, llm_node, llm_output, tool, validate};

use crate::support::{Choice, World, messages, paths, prompt, world};

#[cfg(test)]
#[llm_node(prompt = "{a} {b}")]
#[derive(Debug)]
struct Ask {
    #[cfg_attr(test, doc = "Documented.", allow(dead_code))]
    a: u8,
    b: u8,
}

#[cfg(not(test))]
#[llm_node(prompt = "{a}")]
struct Ask {
    a: Unknown,
}

#[tokio::test]
async fn fields_of_a_node() {
    assert_eq!(prompt(&Ask { a: 1, b: 2 }).await, "1 2");
}

#[cfg_attr(test, llm_node(prompt = "test {a}"))]
#[cfg_attr(not(test), llm_node(prompt = "{nothing}"))]
#[cfg_attr(test, derive(Debug))]
#[cfg(test)]
struct Conditional {
    a: u8,
}

#[llm_node(prompt = "below {a}")]
#[cfg_attr(test, derive(Debug))]
#[cfg(test)]
struct Below {
    a: u8,
}

#[llm_node(prompt = "below {a}", crate = ::llmnode)]
#[cfg(not(test))]
struct Below {
    a: Unknown,
}

#[llm_node(prompt = "x")]
#[cfg_attr(test, doc = "Documented.")]
#[cfg_attr(not(test), doc = "Never.")]
#[derive(Debug)]
struct Described;

#[tokio::test]
async fn nodes_as_a_whole() {
    assert_eq!(prompt(&Conditional { a: 1 }).await, "test 1");
    assert_eq!(prompt(&Below { a: 1 }).await, "below 1");
    assert_eq!(Described::FACTS.description, "Documented.");
}

#[llm_output(state = World)]
#[cfg_attr(test, serde(rename_all = "camelCase"))]
#[cfg_attr(test, derive(serde::Serialize, Debug))]
struct Page {
    first: Choice,
    #[cfg_attr(test, doc = "Documented.")]
    second_choice: Choice,
    shape: Shape,
}

#[llm_output(state = World)]
#[derive(Debug)]
#[cfg(test)]
enum Shape {
    #[cfg_attr(test, allow(dead_code))]
    Gone,
    Here {
        choice: Choice,
    },
}

#[validate]
#[cfg(test)]
impl Page {
    #[cfg_attr(test, inline)]
    fn found(&self) -> Result<(), Invalid> {
        Err(Invalid::at("second_choice", "found"))
    }
}

#[validate]
#[cfg(not(test))]
impl Page {
    fn found(&self, state: &Unknown) {}
}

#[llm_node(prompt = "x", output = Page, state = World)]
#[derive(Debug)]
struct AskPage;

#[tokio::test]
async fn outputs_and_validators() {
    let bad = r#"{"item": "axe"}"#;
    let answer = format!(
        r#"{{"first": {bad}, "secondChoice": {bad}, "shape": {{"Here": {{"choice": {bad}}}}}}}"#
    );
    assert_eq!(
        paths(world(), &AskPage, &answer).await,
        [
            "first.item",
            "secondChoice.item",
            "shape.Here.choice.item",
            "secondChoice"
        ]
    );
}

#[cfg_attr(test, llmnode::validate(state = World))]
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Own {
    choice: Choice,
}

#[llmnode::validate(state = World)]
#[cfg_attr(
    test,
    derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)
)]
struct OwnBelow {
    choice: Choice,
}

#[cfg_attr(not(test), validate)]
impl Own {
    fn plain(&self) -> &Choice {
        &self.choice
    }
}

#[validate]
#[cfg(not(test))]
impl OwnBelow {
    fn never(&self, state: &Unknown) -> Result<(), Invalid> {
        Ok(())
    }
}

#[llm_output(state = World)]
#[derive(Debug)]
struct Both(Own, OwnBelow);

#[llm_node(prompt = "x", output = Both, state = World)]
#[derive(Debug)]
struct AskOwn;

#[tokio::test]
async fn own_derives() {
    let bad = r#"{"choice": {"item": "axe"}}"#;
    let own: Own = serde_json::from_str(bad).unwrap();
    assert_eq!(own.plain().item, "axe");
    assert_eq!(
        paths(world(), &AskOwn, &format!("[{bad}, {bad}]")).await,
        ["[0].choice.item", "[1].choice.item"]
    );
    assert_eq!(messages(world(), &AskOwn).await.len(), 1);
}

#[tokio::test]
async fn items_within_a_function() {
    #[llm_node(prompt = "{a}")]
    #[derive(Debug)]
    #[cfg(test)]
    struct Local {
        a: u8,
    }
    assert_eq!(prompt(&Local { a: 1 }).await, "1");
}

/// What only some builds have, inside: fields, variants, validators, parameters. `debug_assertions` is on in one profile of two.
#[llm_output(state = World)]
#[derive(Debug)]
enum Answer {
    Item {
        #[cfg(test)]
        choice: Choice,
        #[cfg(not(test))]
        choice: Unknown,
        #[cfg(debug_assertions)]
        depth: Option<u8>,
    },
    #[cfg(not(test))]
    Never(Unknown),
    #[cfg(all(test, not(windows)))]
    #[serde(rename = "many")]
    Many(
        #[cfg_attr(test, serde(default))] Vec<Own>,
        #[cfg(windows)] Unknown,
    ),
}

#[validate]
impl Answer {
    #[cfg(not(test))]
    fn never(&self, state: &Unknown) -> Result<(), Invalid> {
        Ok(())
    }

    #[cfg(test)]
    fn found(&self, #[cfg(test)] _: &World, #[cfg(not(test))] _: &Unknown) -> Result<(), Invalid> {
        Err(Invalid::new("found"))
    }

    #[cfg_attr(test, cfg(not(test)))]
    fn helper(&self) {}
}

/// Looks.
#[tool]
fn look(
    #[cfg(test)] at: String,
    #[cfg(not(test))] at: Unknown,
    #[cfg(windows)] more: Unknown,
) -> String {
    at
}

#[llm_node(prompt = "{a} {b}", output = Answer, state = World, tools = [Look])]
#[derive(Debug)]
struct AskAnswer {
    a: u8,
    #[cfg(test)]
    b: u8,
    #[cfg(not(test))]
    b: Unknown,
    #[cfg_attr(test, node(skip))]
    #[cfg_attr(not(test), node(history))]
    c: u8,
    #[cfg(not(test))]
    d: Unknown,
}

#[tokio::test]
async fn parts_of_items() {
    let node = AskAnswer { a: 1, b: 2, c: 3 };
    assert_eq!(
        (messages(world(), &node).await[0].content.as_str(), node.c),
        ("1 2", 3)
    );
    let answer = r#"{"Item": {"choice": {"item": "axe"}}}"#;
    assert_eq!(
        paths(world(), &node, answer).await,
        ["Item.choice.item", ""]
    );
    assert_eq!(
        paths(world(), &node, r#"{"many": [{"choice": {"item": "key"}}]}"#).await,
        [""]
    );
    assert_eq!(look("here".into()), "here");
}
