//! The steps that the flows of these cases consist of.

#![allow(dead_code)]

use llmnode::prelude::*;
use llmnode::{BoxError, Cx, Exec, Node, flow::Step};

pub struct World {
    pub goal: String,
    pub part: Part,
}

pub struct Part {
    pub name: String,
}

#[derive(Action)]
pub enum Decision {
    Search,
    Answer,
}

#[derive(Action)]
pub enum Level {
    Of(String),
    None,
}

macro_rules! step {
    ($name:ident, $label:literal, $state:ty, $action:ty) => {
        pub struct $name {
            pub text: String,
        }

        impl Node for $name {
            type Output = $action;
            const NAME: &'static str = $label;
        }

        impl Exec<$state> for $name {
            async fn exec(&self, _: &Cx<'_, $state>) -> Result<$action, BoxError> {
                Err("nobody runs it".into())
            }
        }

        impl Step<$state> for $name {
            type Output = <Self as Node>::Output;
            type Action = $action;

            async fn prep(_: &$state) -> Result<Self, BoxError> {
                Ok($name { text: String::new() })
            }

            fn post(self, output: $action, _: &mut $state) -> Result<$action, BoxError> {
                Ok(output)
            }
        }
    };
}

step!(Decide, "decide", World, Decision);
step!(Search, "search", World, ());
step!(Answer, "answer", World, ());
step!(Grade, "grade", World, Level);
step!(Check, "check", World, bool);
step!(Rename, "rename", Part, ());
