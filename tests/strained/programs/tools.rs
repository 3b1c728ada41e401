//! Tools as functions can be written.

use super::support::{World, model, world};

pub(crate) async fn run() {
    functions::run().await;
    nodes::run().await;
}

/// 38. Parameters, results, attributes and orders of all kinds.
mod functions {
    use super::{World, model, world};
    use llmnode::prelude::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    /// One.
    #[tool(name = "first", alone)]
    #[must_use]
    pub(crate) fn one(world: &World, mut word: String, #[serde(default)] count: u8) -> String {
        word.push_str(&count.to_string());
        word + &world.items.concat()
    }

    /// Two.
    #[tool(deadline = 10s, attempts = 2)]
    #[allow(clippy::unused_async, clippy::ptr_arg, reason = "a way to write it")]
    async fn two(
        words: &[String],
        cx: &Cx<'_, World>,
        word: &str,
        map: BTreeMap<String, u8>,
        maybe: Option<Vec<Kind>>,
    ) -> Result<Vec<Kind>, std::io::Error> {
        let _ = (words, word, map, cx.state());
        maybe.ok_or_else(|| std::io::Error::other("none"))
    }

    /// A name that the model knows from elsewhere.
    #[tool]
    fn room(#[allow(non_snake_case)] roomNo: u8) -> u8 {
        roomNo
    }

    /// Three.
    #[tool]
    fn three() {}

    /// Four.
    #[tool(idempotent = false)]
    async fn four(#[schemars(range(max = 3))] how_many: u8) -> Result<u8, BoxError> {
        std::future::ready(Ok(how_many)).await
    }

    #[llm_output]
    #[derive(Debug, Clone)]
    enum Kind {
        Plain,
        Of { n: u8 },
    }

    #[validate(state)]
    impl Two {
        fn has_words(&self, world: &World) -> Result<(), Invalid> {
            if self.words.len() > world.items.len() {
                Err(Invalid::at("words", "are many"))
            } else {
                Ok(())
            }
        }
    }

    #[llm_node(prompt = "x", state = World, tools = [One, self::Two, Room, Three, super::functions::Four])]
    struct Ask;

    pub(super) async fn run() {
        let call = Reply::text("")
            .call("first", json!({"word": "a"}))
            .call(
                "two",
                json!({"words": ["a", "b"], "word": "c", "map": {}, "maybe": [{"Of": {"n": 1}}]}),
            )
            .call("three", json!({}))
            .call("four", json!({"how_many": 1}));
        let script = model([call]).reply("done");
        let run = Run::new(script.clone()).with_state(world());
        assert_eq!(run.call(&Ask).await.ok().as_deref(), Some("done"));
        let results: Vec<_> = script.requests()[1]
            .messages
            .iter()
            .map(|message| message.content.clone())
            .collect();
        assert!(
            results.contains(&"a0key".to_owned())
                && results.iter().any(|text| text.contains("are many")),
            "{results:?}"
        );
        three();
        assert_eq!(
            format!("{:?}{:?}", Kind::Plain, Kind::Of { n: 1 }).len(),
            16
        );
    }
}

/// 39. Nodes as tools of nodes, generic and borrowed callers.
mod nodes {
    use super::model;
    use llmnode::prelude::*;
    use serde_json::json;

    /// Sums a text up.
    #[llm_node(tool, prompt = "Sum up:\n{text:fence}", output = Summary)]
    #[derive(Debug, Clone)]
    struct SumUp {
        /// A text.
        text: String,
    }

    #[llm_output]
    #[derive(Debug, Clone, PartialEq)]
    struct Summary {
        words: Vec<String>,
    }

    #[llm_node(prompt = "{it}", tools = [SumUp], turns = 3)]
    struct Ask<'a, T: std::fmt::Display + Sync + ?Sized> {
        it: &'a T,
        #[node(tools)]
        more: Toolset,
    }

    pub(super) async fn run() {
        let more = Toolset::new().function("shout", "Shouts.", |text: String| async move {
            Ok::<_, BoxError>(text.to_uppercase())
        });
        let script = model([Reply::text("").call("sum_up", json!({"text": "a b"}))])
            .reply(r#"{"words": ["a"]}"#)
            .reply("done");
        let text = Run::new(script).call(&Ask { it: "x", more }).await;
        assert_eq!(text.ok().as_deref(), Some("done"));
    }
}
