//! `#[cfg]` and `#[cfg_attr]` wherever they can stand: the macros see an item before they are evaluated.

use llmnode::{Invalid, Node, llm_node, llm_output, validate};

use crate::support::{Choice, World, messages, paths, prompt, world};

#[llm_node(prompt = "{a} {b} {c}")]
#[derive(Debug)]
struct Ask {
    #[cfg(test)]
    a: u8,
    #[cfg(not(test))]
    a: Unknown,
    #[cfg(all(test, not(test)))]
    #[cfg(test)]
    gone: Unknown,
    #[cfg(test)]
    #[cfg(true)]
    b: u8,
    #[cfg_attr(test, doc = "Documented.")]
    #[cfg_attr(not(test), node(skip))]
    c: u8,
    #[cfg_attr(test, node(skip))]
    d: u8,
    #[cfg_attr(all(), cfg_attr(test, node(skip), allow(dead_code)), cfg(test))]
    e: u8,
    #[cfg_attr(all(), cfg(not(test)))]
    f: Unknown,
}

#[tokio::test]
async fn fields_of_a_node() {
    let node = Ask { a: 1, b: 2, c: 3, d: 4, e: 5 };
    assert_eq!(node.d, 4);
    assert_eq!(prompt(&node).await, "1 2 3");
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

#[derive(Debug)]
#[llm_node(prompt = "{a}")]
struct DerivedAbove {
    #[cfg(test)]
    a: u8,
    #[cfg(not(test))]
    b: u8,
}

#[tokio::test]
async fn nodes_as_a_whole() {
    assert_eq!(prompt(&Conditional { a: 1 }).await, "test 1");
    assert_eq!(prompt(&Below { a: 1 }).await, "below 1");
    assert_eq!(Described::DESCRIPTION, "Documented.");
    assert_eq!(prompt(&DerivedAbove { a: 1 }).await, "1");
}

#[llm_node(prompt = "{a}")]
#[derive(Debug)]
struct Parameters<#[cfg(test)] T: std::fmt::Display, #[cfg(not(test))] 'a, #[cfg(test)] const N: usize> {
    a: T,
    #[cfg(not(test))]
    b: &'a u8,
}

#[tokio::test]
async fn parameters() {
    assert_eq!(prompt(&Parameters::<u8, 1> { a: 1 }).await, "1");
}

#[llm_output(state = World)]
#[cfg_attr(test, serde(rename_all = "camelCase"))]
#[cfg_attr(test, derive(serde::Serialize, Debug))]
struct Page {
    #[cfg(not(test))]
    gone: Unknown,
    #[cfg_attr(test, serde(rename = "one"))]
    first: Choice,
    #[cfg(test)]
    second_choice: Choice,
    shape: Shape,
    tuple: Tuple,
    new: New,
    #[cfg_attr(test, serde(skip))]
    #[expect(dead_code, reason = "skipped")]
    skipped: Option<Choice>,
}

#[llm_output(state = World)]
#[derive(Debug)]
struct Tuple(#[cfg(not(test))] Unknown, #[cfg(test)] u8, Choice);

#[llm_output(state = World)]
#[derive(Debug)]
struct New(Choice, #[cfg(not(test))] Unknown);

#[llm_output(state = World)]
#[derive(Debug)]
enum Shape {
    #[cfg(not(test))]
    Gone(Unknown),
    #[cfg(test)]
    #[cfg_attr(test, serde(rename = "here"))]
    Here {
        #[cfg(not(test))]
        gone: Unknown,
        #[cfg(test)]
        choice: Choice,
    },
    Tuple(#[cfg(not(test))] Unknown, #[cfg(test)] Choice, Choice),
}

#[validate]
impl Page {
    #[cfg(test)]
    fn found(&self) -> Result<(), Invalid> {
        Err(Invalid::at("second_choice", "found"))
    }

    #[cfg(not(test))]
    fn found(&self, state: &Unknown) {}

    #[cfg_attr(test, inline)]
    #[cfg_attr(all(), cfg(not(test)))]
    fn gone(&self, state: &Unknown) -> Result<(), Invalid> {
        compile_error!("not built")
    }

    fn parameter(&self, #[cfg(test)] _: &World, #[cfg(not(test))] _: &Unknown) -> Result<(), Invalid> {
        Err(Invalid::new("found"))
    }
}

#[llm_node(prompt = "x", output = Page, state = World)]
#[derive(Debug)]
struct AskPage;

#[tokio::test]
async fn outputs_and_validators() {
    let bad = r#"{"item": "axe"}"#;
    let answer = format!(
        r#"{{"one": {bad}, "secondChoice": {bad}, "shape": {{"here": {{"choice": {bad}}}}}, "tuple": [1, {bad}], "new": {bad}}}"#
    );
    assert_eq!(
        paths(world(), &AskPage, &answer).await,
        [
            "one.item",
            "secondChoice.item",
            "shape.here.choice.item",
            "tuple[1].item",
            "new.item",
            "secondChoice",
            ""
        ]
    );
}

#[cfg_attr(test, llmnode::validate(state = World))]
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Own {
    #[cfg(not(test))]
    gone: Unknown,
    choice: Choice,
}

#[llmnode::validate(state = World)]
#[cfg_attr(test, derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
struct OwnBelow {
    #[cfg(not(test))]
    gone: Unknown,
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
    struct Local {
        #[cfg(test)]
        a: u8,
        #[cfg(not(test))]
        b: u8,
    }
    assert_eq!(prompt(&Local { a: 1 }).await, "1");
}
