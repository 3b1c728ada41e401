//! Places where items can stand.

use super::support::{ask, message};

pub(crate) async fn run() {
    inside::run().await;
    paths::run().await;
}

/// 41. In functions, methods, blocks, constants and closures.
mod inside {
    use super::{ask, message};
    use llmnode::prelude::*;

    struct Outer;

    impl Outer {
        async fn call<T: std::fmt::Display + Sync + Send>(&self, it: T) -> (String, u8) {
            #[llm_output]
            #[derive(Debug)]
            struct Answer {
                n: u8,
            }

            #[validate]
            impl Answer {
                fn is_some(&self) -> Result<(), Invalid> {
                    if self.n == 0 {
                        Err(Invalid::at("n", "is zero"))
                    } else {
                        Ok(())
                    }
                }
            }

            #[llm_node(prompt = "{it}", output = Answer)]
            struct Ask<T: std::fmt::Display + Sync> {
                it: T,
            }

            let node = Ask { it };
            (message(&node), ask(&node, r#"{"n": 1}"#).await.n)
        }
    }

    const LENGTH: usize = {
        #[llm_node(prompt = "x")]
        struct Ask;
        let _ = Ask;
        std::mem::size_of::<Ask>()
    };

    pub(super) async fn run() {
        let make = || {
            #[llm_node(prompt = "in a closure: {a}")]
            struct Ask {
                a: u8,
            }
            message(&Ask { a: 1 })
        };
        assert_eq!((Outer.call('x').await, LENGTH), (("x".to_owned(), 1), 0));
        assert_eq!(make(), "in a closure: 1");
    }
}

/// 42. Everything named by a path, as private as it can be.
mod paths {
    use super::ask;

    mod types {
        #[llmnode::llm_output]
        #[derive(Debug)]
        pub(in super::super::paths) struct Answer<T> {
            pub(super) inner: super::parts::Part<T>,
        }

        pub(super) struct World {
            pub(super) deep: Deep,
        }

        pub(super) struct Deep {
            pub(super) names: (Vec<String>, u8),
        }
    }

    mod parts {
        #[llmnode::llm_output]
        #[derive(Debug)]
        pub(super) struct Part<T>(pub(super) Vec<T>);
    }

    mod actions {
        /// Looks.
        #[llmnode::tool]
        pub(super) fn look(world: &super::types::World) -> usize {
            world.deep.names.0.len()
        }

        pub(super) fn check(
            _: &super::types::Answer<u8>,
            _: &super::types::World,
            _: &llmnode::AttemptInfo,
        ) -> Result<(), llmnode::Invalid> {
            Ok(())
        }

        pub(super) fn fall_back(
            _: &super::Ask,
            _: &super::types::World,
            _: &llmnode::NodeError,
        ) -> super::types::Answer<u8> {
            super::types::Answer {
                inner: super::parts::Part(vec![]),
            }
        }
    }

    #[llmnode::llm_node(
        prompt = "{state.deep.names.0:list}\n{state.deep.names.1}",
        output = self::types::Answer<u8>,
        state = self::types::World,
        tools = [crate::programs::places::paths::actions::Look],
        validate = self::actions::check,
        fallback = actions::fall_back,
    )]
    struct Ask;

    #[llmnode::llm_node(prompt = "x", output = types::Answer<types::Answer<u8>>)]
    struct Nested;

    pub(super) async fn run() {
        let world = types::World {
            deep: types::Deep {
                names: (vec!["a".to_owned()], 1),
            },
        };
        assert_eq!(actions::look(&world), 1);
        let answer = super::super::support::on(world, &Ask, r#"{"inner": [1]}"#).await;
        assert_eq!(answer.ok().map(|answer| answer.inner.0), Some(vec![1]));
        assert_eq!(
            ask(&Nested, r#"{"inner": [{"inner": [1]}]}"#).await.inner.0[0]
                .inner
                .0,
            [1]
        );
    }
}
