//! `#[cfg]` and `#[cfg_attr]` wherever Rust takes them.

use super::support::{World, ask, complaints, message, world};

pub(crate) async fn run() {
    members::run().await;
    parameters::run().await;
    methods::run().await;
    whole::run().await;
}

/// 8. On fields, variants and members of variants.
mod members {
    use super::ask;
    use llmnode::prelude::*;

    #[llm_output]
    #[derive(Debug)]
    struct Choice {
        #[cfg_attr(all(), serde(rename = "thing"))]
        item: String,
        #[cfg(any())]
        gone: Missing,
        #[cfg(not(any()))]
        #[cfg_attr(all(), serde(default), schemars(range(min = 1)))]
        count: Option<u8>,
        kind: Kind,
    }

    #[llm_output]
    #[derive(Debug, PartialEq)]
    enum Kind {
        #[cfg(any())]
        Gone(Missing),
        #[cfg_attr(all(), serde(rename = "simple"))]
        Plain,
        #[cfg(not(any()))]
        Many {
            #[cfg(any())]
            gone: Missing,
            #[cfg(not(any()))]
            of: u8,
        },
        Pair(#[cfg(not(any()))] u8, #[cfg(any())] Missing, u8),
    }

    #[llm_node(prompt = "{a}", output = Vec<Choice>)]
    struct Ask {
        #[cfg(not(any()))]
        a: u8,
        #[cfg(any())]
        b: Missing,
    }

    pub(super) async fn run() {
        let answer = r#"[{"thing": "x", "kind": "simple"}, {"thing": "y", "count": 1, "kind": {"Many": {"of": 2}}}, {"thing": "z", "kind": {"Pair": [1, 2]}}]"#;
        let choices = ask(&Ask { a: 1 }, answer).await;
        let kinds: Vec<_> = choices.iter().map(|one| &one.kind).collect();
        assert_eq!(
            kinds,
            [&Kind::Plain, &Kind::Many { of: 2 }, &Kind::Pair(1, 2)]
        );
        assert_eq!((choices[0].item.as_str(), choices[1].count), ("x", Some(1)));
    }
}

/// 9. On generic parameters, and where bounds are.
mod parameters {
    use super::message;
    use llmnode::prelude::*;

    #[llm_node(prompt = "{it}")]
    struct Ask<#[cfg(not(any()))] T, #[cfg(any())] U>
    where
        T: std::fmt::Display + Sync,
    {
        it: T,
    }

    #[llm_output]
    #[derive(Debug)]
    struct Page<#[cfg(not(any()))] T, #[cfg(any())] const N: usize> {
        items: Vec<T>,
    }

    #[llm_node(prompt = "x", output = Page<u8>)]
    struct List;

    pub(super) async fn run() {
        assert_eq!(message(&Ask { it: 1 }), "1");
        assert_eq!(super::ask(&List, r#"{"items": [1]}"#).await.items, [1]);
    }
}

/// 10. On validators, on parameters of validators and of tools.
mod methods {
    use super::{World, complaints, world};
    use llmnode::prelude::*;

    #[llm_output]
    #[derive(Debug)]
    struct Choice {
        item: String,
    }

    #[validate]
    impl Choice {
        #[cfg(any())]
        fn gone(&self, missing: &Missing) -> Result<(), Invalid> {}

        #[cfg_attr(all(), allow(clippy::unused_self))]
        fn here(
            &self,
            #[cfg(not(any()))] _: &World,
            #[cfg(any())] _: &Missing,
        ) -> Result<(), Invalid> {
            Err(Invalid::at("item", "no"))
        }
    }

    /// Looks.
    #[tool]
    #[cfg_attr(all(), must_use)]
    fn look(
        #[cfg_attr(all(), serde(default))] at: u8,
        #[cfg(any())] gone: Missing,
        #[cfg(not(any()))] world: &World,
    ) -> usize {
        usize::from(at) + world.items.len()
    }

    #[llm_node(prompt = "x", output = Choice, state = World, tools = [Look])]
    struct Ask;

    pub(super) async fn run() {
        assert_eq!(
            complaints(world(), &Ask, r#"{"item": "x"}"#).await,
            ["item"]
        );
        assert_eq!(look(1, &world()), 2);
    }
}

/// 11. On whole items, above and below the attribute.
mod whole {
    use super::message;
    use llmnode::prelude::*;

    #[cfg(any())]
    #[llm_node(prompt = "{missing}")]
    struct Ask;

    #[cfg_attr(all(), llm_node(prompt = "{a}"))]
    #[cfg_attr(any(), llm_node(prompt = "{b}"))]
    #[cfg_attr(all(), derive(Debug, Clone))]
    struct Ask {
        a: u8,
    }

    #[cfg_attr(all(), llm_output)]
    #[cfg_attr(all(), derive(Debug))]
    #[cfg_attr(all(), serde(rename_all = "camelCase"))]
    struct Answer {
        first_word: String,
    }

    #[llm_node(prompt = "x", output = Answer)]
    #[cfg(not(any()))]
    struct Other;

    pub(super) async fn run() {
        assert_eq!(message(&Ask { a: 1 }.clone()), "1");
        assert_eq!(
            super::ask(&Other, r#"{"firstWord": "a"}"#).await.first_word,
            "a"
        );
    }
}
