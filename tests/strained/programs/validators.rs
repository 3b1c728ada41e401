//! Validators as methods can be written.

use super::support::{World, complaints, world};

pub(crate) async fn run() {
    signatures::run().await;
    functions::run().await;
}

/// 34. Receivers, patterns, orders, errors, attributes.
mod signatures {
    use super::{World, complaints, world};
    use llmnode::prelude::*;
    use std::sync::Arc;

    type Checked<T = ()> = Result<T, Invalid>;

    #[llm_output]
    #[derive(Debug)]
    struct Choice {
        item: String,
    }

    #[validate(state)]
    #[allow(clippy::needless_arbitrary_self_type, reason = "a way to write it")]
    impl Choice {
        const LONGEST: usize = 3;

        #[must_use = "a verdict"]
        #[inline]
        fn one(self: &Self, World { items }: &World) -> Checked {
            if items.contains(&self.item) {
                Ok(())
            } else {
                Err(Invalid::at("item", "one"))
            }
        }

        async fn two<'a>(&'a self, _attempt: &'a AttemptInfo, state: &'a World) -> Checked<()> {
            std::future::ready(()).await;
            (state.items.len() > 1)
                .then_some(())
                .ok_or_else(|| Invalid::at("item", "two"))
        }

        fn three(&self) -> Result<(), Invalid> {
            let count = u32::try_from(self.item.len())?;
            if count as usize > Self::LONGEST {
                Err(Invalid::at("item", "three"))
            } else {
                Ok(())
            }
        }

        pub(crate) fn four(
            &self,
            #[allow(unused_variables, reason = "a way to write it")] attempt: &AttemptInfo,
        ) -> std::result::Result<(), llmnode::Invalid> {
            Err(Invalid::at("item", "four").allowed([1, 2]))
        }
    }

    #[llm_node(prompt = "x", output = Vec<Choice>, state = World)]
    struct Ask;

    pub(super) async fn run() {
        let answer = r#"[{"item": "longer"}]"#;
        assert_eq!(complaints(world(), &Ask, answer).await, ["[0].item"; 4]);
        assert_eq!(
            complaints(Arc::new(world()), &Ask, answer).await,
            ["[0].item"; 4]
        );
    }
}

/// 35. Functions of a node: paths of all kinds, `async`, generic, of an `impl`.
mod functions {
    use super::{World, complaints, world};
    use llmnode::prelude::*;

    #[llm_node(
        prompt = "x",
        output = Vec<u8>,
        state = World,
        validate = [short, self::checks::of_any::<u8>, Ask::later, <Ask as Checks>::of_a_trait],
    )]
    struct Ask;

    trait Checks {
        fn of_a_trait(list: &Vec<u8>, _: &World, _: &AttemptInfo) -> Result<(), Invalid>;
    }

    impl Checks for Ask {
        fn of_a_trait(list: &Vec<u8>, _: &World, _: &AttemptInfo) -> Result<(), Invalid> {
            if list.is_empty() {
                Err(Invalid::new("is empty"))
            } else {
                Err(Invalid::at("[0]", "trait"))
            }
        }
    }

    fn short(list: &Vec<u8>, world: &World, _: &AttemptInfo) -> Result<(), Invalid> {
        if list.len() <= world.items.len() {
            Err(Invalid::at("[0]", "short"))
        } else {
            Ok(())
        }
    }

    mod checks {
        pub(super) fn of_any<T>(
            _: &Vec<T>,
            _: &super::World,
            _: &llmnode::AttemptInfo,
        ) -> Result<(), llmnode::Invalid> {
            Err(llmnode::Invalid::at("[0]", "any"))
        }
    }

    impl Ask {
        async fn later(_: &Vec<u8>, _: &World, _: &AttemptInfo) -> Result<(), Invalid> {
            std::future::ready(Err(Invalid::at("[0]", "later"))).await
        }
    }

    pub(super) async fn run() {
        assert_eq!(complaints(world(), &Ask, "[1]").await, ["[0]"; 4]);
    }
}
