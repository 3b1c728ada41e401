//! Items and arguments made by `macro_rules!`, whose fragments reach the macros in groups without delimiters.

use llmnode::{AttemptInfo, Invalid, Node, NodeError, llm_node, llm_output, validate};

use crate::support::{Choice, World, messages, paths, world};

macro_rules! node {
    (
        $(#[$meta:meta])* $vis:vis $name:ident($prompt:expr, $system:literal, $output:ty, $state:ty, $fallback:path)
        $retries:literal $tokens:expr; $heat:literal $model:expr;
        { $($field:ident: $ty:ty),* $(,)? }
    ) => {
        $(#[$meta])*
        #[llm_node(
            prompt = $prompt,
            system = $system,
            output = $output,
            state = $state,
            fallback = $fallback,
            retries = $retries,
            max_tokens = $tokens,
            temperature = $heat,
            model = $model,
            recover(transport = [retry($retries, 1s..60s), model($model), fallback]),
            limits(requests = $retries, tokens = 9_000),
        )]
        $vis struct $name { $($field: $ty),* }
    };
}

fn empty(_: &Made, _: &World, _: &NodeError) -> Option<Vec<Choice>> {
    None
}

node! {
    /// Made by a macro.
    #[derive(Debug)]
    pub(crate) Made("{a} {b:list} {c:?} {state.items:list}", "system", Option<Vec<Choice>>, World, empty)
    2 64; 0.5 "small";
    { a: u8, b: Vec<String>, c: (u8, &'static str) }
}

#[tokio::test]
async fn every_argument_from_a_fragment() {
    let node = Made {
        a: 1,
        b: vec!["x".into()],
        c: (2, "y"),
    };
    assert_eq!(
        messages(world(), &node).await[1].content,
        "1 - x (2, \"y\") - key"
    );
    assert_eq!(Made::FACTS.description, "Made by a macro.");
    assert_eq!(Made::SETTINGS.max_tokens, Some(64));
    assert_eq!(Made::SETTINGS.temperature, Some(0.5));
    assert_eq!(Made::SETTINGS.model.as_deref(), Some("small"));
}

macro_rules! output {
    ($name:ident<$state:ty> { $($field:ident: $ty:ty),* $(,)? } $check:ident($who:ty, $when:ty) -> $result:ty $body:block) => {
        #[llm_output(state = $state)]
        #[derive(Debug)]
        pub(super) struct $name { $($field: $ty),* }

        #[validate]
        impl $name {
            fn $check(&self, _state: $who, _attempt: $when) -> $result $body
        }

        #[llm_node(prompt = "x", output = $name, state = $state)]
        #[derive(Debug)]
        pub(super) struct Ask;
    };
}

mod made {
    use super::*;

    output! {
        Page<World> { one: Choice, pair: (u8, Choice), list: Vec<(Choice, Choice)>, number: u8 }
        small(&World, &AttemptInfo) -> Result<(), Invalid> { Err(Invalid::at("number", "no")) }
    }
}

#[tokio::test]
async fn outputs_and_validators_from_fragments() {
    let bad = r#"{"item": "axe"}"#;
    let answer = format!(
        r#"{{"one": {bad}, "pair": [1, {bad}], "list": [[{{"item": "key"}}, {bad}]], "number": 1}}"#
    );
    assert_eq!(
        paths(world(), &made::Ask, &answer).await,
        ["one.item", "pair[1].item", "list[0][1].item", "number"]
    );
}

macro_rules! whole {
    ($item:item) => {
        #[llm_node(prompt = "{a}")]
        $item
    };
}

whole! {
    #[derive(Debug)]
    struct Whole { a: u8 }
}

macro_rules! block {
    ($($item:item)*) => { $(#[validate] $item)* };
}

#[llm_output]
#[derive(Debug)]
struct Blocked {
    a: u8,
}

block! {
    impl Blocked {
        fn small(&self) -> Result<(), Invalid> {
            if self.a > 1 { Err(Invalid::at("a", "large")) } else { Ok(()) }
        }
    }
}

#[llm_node(prompt = "x", output = Blocked)]
#[derive(Debug)]
struct OfBlocked;

#[tokio::test]
async fn whole_items() {
    assert_eq!(messages((), &Whole { a: 1 }).await[0].content, "1");
    assert_eq!(paths((), &OfBlocked, r#"{"a": 2}"#).await, ["a"]);
}

macro_rules! generic {
    ($name:ident, $life:lifetime, $param:ident: $bound:path, $n:ident, $ty:ty, $len:expr) => {
        #[llm_node(prompt = "{a} {b:?} {c:list}")]
        #[derive(Debug)]
        struct $name<$life, $param: $bound, const $n: usize> {
            a: &$life $param,
            b: $ty,
            c: [u8; $len],
        }
    };
}

generic!(Generic, 'x, T: std::fmt::Display, N, Option<T>, 2);

#[tokio::test]
async fn generics_from_fragments() {
    let node = Generic::<'_, u8, 1> {
        a: &1,
        b: Some(2),
        c: [3, 4],
    };
    assert_eq!(messages((), &node).await[0].content, "1 Some(2) - 3\n- 4");
}

/// A macro that makes a macro's literal out of a `tt`.
macro_rules! tts {
    ($($tt:tt)*) => { #[llm_node($($tt)*)] #[derive(Debug)] struct Tts { a: u8 } };
}

tts!(prompt = r##"{a}"#"##, retries = 0);

#[tokio::test]
async fn token_trees() {
    assert_eq!(messages((), &Tts { a: 1 }).await[0].content, "1\"#");
}
