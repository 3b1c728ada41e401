//! Doc comments in all their forms.

use super::support::{message, world};

pub(crate) async fn run() {
    forms::run().await;
}

/// 24. Blocks, attributes, macros, several of them; quotes and braces inside.
#[deny(
    missing_docs,
    rustdoc::broken_intra_doc_links,
    clippy::missing_docs_in_private_items
)]
mod forms {
    use super::{message, world};
    use llmnode::prelude::*;

    /** A block
     * with stars, `{braces}`, "quotes" and a \backslash. */
    #[llm_output]
    #[doc(alias = "option")]
    #[doc = concat!("And", " more of [`Self`].")]
    #[derive(Debug, Default)]
    pub(crate) struct Choice {
        /// One of the items.
        ///
        /// # Examples
        ///
        /// - `{"item": "key"}`
        #[doc = "Even \"more\"."]
        pub(crate) item: String,
        #[doc(hidden)]
        /// Hidden.
        pub(crate) hidden: Option<u8>,
    }

    /// The validators.
    #[validate]
    impl Choice {
        /// Whether it is.
        fn is(&self) -> Result<(), Invalid> {
            if self.item.is_empty() {
                Err(Invalid::at("item", "is empty"))
            } else {
                Ok(())
            }
        }
    }

    /// Looks {word} up; "quoted".
    /// # Errors
    /// Never.
    #[tool]
    pub(crate) fn look(
        /// A word.
        /// Of two lines.
        #[doc = "Three."]
        word: String,
        /// Not for the model.
        world: &super::super::support::World,
    ) -> Result<String, String> {
        if world.items.is_empty() {
            Err(word)
        } else {
            Ok(word)
        }
    }

    /// Asks.
    #[doc = include_str!("../../../LICENSE-MIT")]
    #[llm_node(prompt = "{a}", output = Choice, state = super::super::support::World, tools = [Look])]
    #[allow(clippy::doc_markdown, reason = "a licence")]
    pub(crate) struct Ask {
        /// A.
        pub(crate) a: u8,
    }

    /// Asks again.
    #[llm_node(prompt = "{first} {second:?}")]
    pub(crate) struct Pair {
        /// First.
        pub(crate) first: u8,
        /** Second. */
        pub(crate) second: &'static str,
    }

    /// Runs it.
    pub(super) async fn run() {
        let answer = super::super::support::on(world(), &Ask { a: 1 }, r#"{"item": "x"}"#).await;
        assert_eq!(
            answer.ok().map(|choice| (choice.item, choice.hidden)),
            Some(("x".to_owned(), None))
        );
        assert_eq!(look("x".to_owned(), &world()), Ok("x".to_owned()));
        assert_eq!(
            message(&Pair {
                first: 1,
                second: "x"
            }),
            "1 \"x\""
        );
        assert_eq!(Choice::default().item, "");
    }
}
