//! The forms of a validator's signature.

use std::future::Future;

use llmnode::{AttemptInfo as Which, Invalid, llm_node, llm_output, validate};

use crate::support::{World, paths, world};

type Checked = Result<(), Invalid>;
type Said = Checked;

#[llm_output]
#[derive(Debug)]
struct Answer {
    text: String,
}

fn found(name: &str) -> Result<(), Invalid> {
    Err(Invalid::at(name, "found"))
}

mod aliased {
    pub(super) type Trial = llmnode::AttemptInfo;
    pub(super) type Outcome<T = ()> = Result<T, llmnode::Invalid>;
}

#[validate]
impl Answer {
    fn plain(&self) -> Result<(), Invalid> {
        found("plain")
    }

    fn long_result(&self) -> ::core::result::Result<(), ::llmnode::Invalid> {
        found("long_result")
    }

    fn alias_of_result(&self) -> Checked {
        found("alias_of_result")
    }

    fn alias_of_alias(&self) -> Said {
        found("alias_of_alias")
    }

    fn generic_alias(&self) -> aliased::Outcome {
        found("generic_alias")
    }

    fn typed_self(self: &Self) -> Result<(), Invalid> {
        found(if self.text.is_empty() {
            ""
        } else {
            "typed_self"
        })
    }

    fn lifetime_on_self<'a>(&'a self) -> Result<(), Invalid> {
        let text: &'a str = &self.text;
        found(if text.is_empty() {
            ""
        } else {
            "lifetime_on_self"
        })
    }

    fn destructured(&self, World { items }: &World) -> Result<(), Invalid> {
        found(if items.is_empty() { "" } else { "destructured" })
    }

    fn mutable_pattern(&self, mut state: &World) -> Result<(), Invalid> {
        static OTHER: World = World { items: Vec::new() };
        if state.items.is_empty() {
            state = &OTHER;
        }
        found(if state.items.is_empty() {
            ""
        } else {
            "mutable_pattern"
        })
    }

    fn unused(&self, _: &World, _: &llmnode::AttemptInfo) -> Result<(), Invalid> {
        found("unused")
    }

    fn path(&self, attempt: &llmnode::AttemptInfo, state: &World) -> Result<(), Invalid> {
        found(if state.items.len() > attempt.index() as usize {
            "path"
        } else {
            ""
        })
    }

    fn named_lifetimes<'a>(&'a self, state: &'a World) -> Result<(), Invalid> {
        found(if state.items.is_empty() {
            &self.text
        } else {
            "named_lifetimes"
        })
    }

    async fn asynchronous(
        &self,
        state: &World,
        attempt: &llmnode::AttemptInfo,
    ) -> Result<(), Invalid> {
        tokio::task::yield_now().await;
        found(if state.items.len() > attempt.maximum() as usize {
            "asynchronous"
        } else {
            ""
        })
    }

    fn future(&self, state: &World) -> impl Future<Output = Result<(), Invalid>> + Send {
        let count = state.items.len();
        async move {
            tokio::task::yield_now().await;
            found(if count == 1 { "future" } else { "" })
        }
    }

    #[inline]
    #[must_use]
    pub(crate) fn visible(&self) -> Result<(), Invalid> {
        found("visible")
    }

    const fn constant(&self) -> Result<(), Invalid> {
        Ok(())
    }

    const LIMIT: usize = 3;
}

#[llm_node(prompt = "x", output = Answer, state = World)]
#[derive(Debug)]
struct Ask;

#[tokio::test]
async fn every_signature() {
    let expected = [
        "plain",
        "long_result",
        "alias_of_result",
        "alias_of_alias",
        "generic_alias",
        "typed_self",
        "lifetime_on_self",
        "destructured",
        "mutable_pattern",
        "unused",
        "path",
        "named_lifetimes",
        "asynchronous",
        "future",
        "visible",
    ];
    assert_eq!(paths(world(), &Ask, r#"{"text": "x"}"#).await, expected);
    assert_eq!(Answer::LIMIT, 3);
}

#[llm_output]
#[derive(Debug)]
struct Other {
    text: String,
}

/// `AttemptInfo` under another name, and beside a state of that name.
#[validate]
impl Other {
    fn alias(&self, attempt: &Which) -> Result<(), Invalid> {
        found(if attempt.index() == 0 {
            "alias"
        } else {
            &self.text
        })
    }
}

#[llm_node(prompt = "x", output = Other)]
#[derive(Debug)]
struct AskOther;

#[tokio::test]
async fn the_attempt_by_another_name() {
    assert_eq!(paths((), &AskOther, r#"{"text": "x"}"#).await, ["alias"]);
    let _: Option<aliased::Trial> = None;
}
