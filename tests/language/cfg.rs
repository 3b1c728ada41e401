//! `#[cfg]` and `#[cfg_attr]` on whole items, and `#[cfg_attr]` inside that adds nothing of the macros.

use llmnode::{Invalid, Node, llm_node, llm_output, validate};

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
    assert_eq!(Described::DESCRIPTION, "Documented.");
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
    let answer =
        format!(r#"{{"first": {bad}, "secondChoice": {bad}, "shape": {{"Here": {{"choice": {bad}}}}}}}"#);
    assert_eq!(
        paths(world(), &AskPage, &answer).await,
        ["first.item", "secondChoice.item", "shape.Here.choice.item", "secondChoice"]
    );
}

#[cfg_attr(test, llmnode::validate(state = World))]
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Own {
    choice: Choice,
}

#[llmnode::validate(state = World)]
#[cfg_attr(test, derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
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
