//! Generic nodes and outputs.

use super::support::{World, ask, complaints, message, world};

pub(crate) async fn run() {
    nested::run().await;
    constants::run().await;
    by_the_node::run().await;
    defaults::run().await;
    either::run().await;
    associated::run().await;
    own_model::run().await;
}

/// 1. A page of pages, whose parts have validators with and without a state.
mod nested {
    use super::{World, complaints, world};
    use llmnode::prelude::*;
    use std::fmt::Debug;

    #[llm_output]
    #[derive(Debug, Clone)]
    struct Page<T>
    where
        T: Debug,
    {
        items: Vec<T>,
        rest: Option<Box<T>>,
    }

    #[validate]
    impl<T: Debug> Page<T> {
        fn is_not_empty(&self) -> Result<(), Invalid> {
            if self.items.is_empty() {
                Err(Invalid::at("items", "are none"))
            } else {
                Ok(())
            }
        }
    }

    #[llm_output]
    #[derive(Debug, Clone)]
    struct Book {
        title: String,
    }

    #[validate(state)]
    impl Book {
        fn is_there(&self, world: &World) -> Result<(), Invalid> {
            if world.items.contains(&self.title) {
                Ok(())
            } else {
                Err(Invalid::at("title", "is not there"))
            }
        }
    }

    #[llm_node(prompt = "List.", output = Page<Page<Book>>, state = World)]
    struct List;

    #[llm_node(prompt = "List.", output = Vec<Page<Option<Book>>>, state = World)]
    struct Lists;

    pub(super) async fn run() {
        let answer = r#"{"items": [{"items": [{"title": "key"}, {"title": "axe"}], "rest": null}], "rest": {"items": [], "rest": null}}"#;
        assert_eq!(
            complaints(world(), &List, answer).await,
            ["items[0].items[1].title", "rest.items"]
        );
        assert_eq!(
            complaints(
                world(),
                &Lists,
                r#"[{"items": [null, {"title": "axe"}], "rest": null}]"#
            )
            .await,
            ["[0].items[1].title"]
        );
    }
}

/// 2. Constants as parameters.
mod constants {
    use super::ask;
    use llmnode::prelude::*;

    #[llm_output]
    #[derive(Debug, PartialEq)]
    struct Row<T, const N: usize> {
        cells: Vec<T>,
    }

    #[validate]
    impl<T, const N: usize> Row<T, N> {
        fn is_full(&self) -> Result<(), Invalid> {
            if self.cells.len() == N {
                Ok(())
            } else {
                Err(Invalid::at("cells", format!("must be {N}")))
            }
        }
    }

    #[llm_node(prompt = "{words:json} of {N}", with(N = N), output = Row<u8, N>)]
    struct Fill<const N: usize> {
        words: [char; 1],
    }

    impl<const N: usize> Fill<N> {
        const fn new() -> Self {
            Self { words: ['x'] }
        }
    }

    pub(super) async fn run() {
        assert_eq!(
            ask(&Fill::<2>::new(), r#"{"cells": [1, 2]}"#).await.cells,
            [1, 2]
        );
    }
}

/// 3. The node's parameter is the output's.
mod by_the_node {
    use super::ask;
    use llmnode::prelude::*;
    use std::marker::PhantomData;

    #[llm_output]
    #[derive(Debug)]
    struct Answer<T> {
        value: T,
    }

    #[llm_node(prompt = "{question}", output = Answer<T>)]
    struct Ask<'a, T>
    where
        T: llmnode::LlmOutput + Send + Sync + 'static,
    {
        question: &'a str,
        #[node(skip)]
        kind: PhantomData<fn() -> T>,
    }

    pub(super) async fn run() {
        let node = Ask::<Vec<u8>> {
            question: "?",
            kind: PhantomData,
        };
        assert_eq!(ask(&node, r#"{"value": [1]}"#).await.value, [1]);
        let _ = node.kind;
    }
}

/// 4. Parameters with defaults.
mod defaults {
    use super::ask;
    use llmnode::prelude::*;

    #[llm_output]
    #[derive(Debug)]
    struct Named<T = String, E = u8> {
        name: T,
        more: Option<E>,
    }

    #[llm_node(prompt = "{it:?}", output = Named)]
    struct Ask<T: std::fmt::Debug + Sync = u8> {
        it: T,
    }

    pub(super) async fn run() {
        let named = ask(&Ask { it: Some("x") }, r#"{"name": "a", "more": 1}"#).await;
        assert_eq!((named.name.as_str(), named.more), ("a", Some(1)));
    }
}

/// 5. Generic enums, with bounds of the program.
mod either {
    use super::{World, complaints, world};
    use llmnode::prelude::*;

    trait Weighed {
        fn weight(&self) -> u32;
    }

    #[llm_output(state = World)]
    #[derive(Debug)]
    enum Either<A: Weighed, B> {
        Left(A),
        Right { item: B, count: u8 },
    }

    #[validate]
    impl<A: Weighed, B> Either<A, B> {
        fn is_light(&self, _: &World) -> Result<(), Invalid> {
            match self {
                Self::Left(it) if it.weight() > 2 => Err(Invalid::at("Left", "is heavy")),
                Self::Right { count: 0, .. } => Err(Invalid::at("Right.count", "is zero")),
                Self::Left(_) | Self::Right { .. } => Ok(()),
            }
        }
    }

    impl Weighed for String {
        fn weight(&self) -> u32 {
            u32::try_from(self.len()).unwrap_or(u32::MAX)
        }
    }

    #[llm_node(prompt = "x", output = Vec<Either<String, bool>>, state = World)]
    struct Ask;

    pub(super) async fn run() {
        let answer = r#"[{"Left": "abc"}, {"Right": {"item": true, "count": 0}}, {"Left": "a"}]"#;
        assert_eq!(
            complaints(world(), &Ask, answer).await,
            ["[0].Left", "[1].Right.count"]
        );
    }
}

/// 6. Bounds over associated types.
mod associated {
    use super::message;
    use llmnode::prelude::*;
    use std::fmt::Display;

    trait Shelf {
        type Item: Display + Sync;
    }

    struct Wood;

    impl Shelf for Wood {
        type Item = u64;
    }

    #[llm_node(prompt = "{first} and\n{rest:list}")]
    struct Ask<'a, S: Shelf>
    where
        S::Item: Clone,
        for<'b> &'b S::Item: Send,
    {
        first: &'a S::Item,
        rest: Vec<S::Item>,
    }

    pub(super) async fn run() {
        let node = Ask::<Wood> {
            first: &1,
            rest: vec![2],
        };
        assert_eq!(message(&node), "1 and\n- 2");
        let _: String = super::ask(&node, "ok").await;
    }
}

/// 7. A node that holds any model.
mod own_model {
    use llmnode::prelude::*;
    use std::sync::Arc;

    #[llm_node(prompt = "Translate {text}.", system = "Into {language}.")]
    #[derive(Clone)]
    struct Translate<M: ChatModel + Clone, L>
    where
        L: std::fmt::Display + Clone + Sync,
    {
        #[node(model)]
        model: M,
        text: Arc<str>,
        language: L,
    }

    pub(super) async fn run() {
        let node = Translate {
            model: super::super::support::model(["Bonjour"]),
            text: "Hi".into(),
            language: "French",
        };
        let run = Run::new(ScriptedModel::new());
        assert_eq!(run.call(&node.clone()).await.unwrap_or_default(), "Bonjour");
        assert_eq!(node.model.requests().len(), 1);
    }
}
