//! Flows, as `flow!` declares them.

#![allow(clippy::unwrap_used, reason = "tests")]

use llmnode::flow::{Position, Step};
use llmnode::prelude::*;
use llmnode::{Cx, Exec, Node};

#[derive(Default)]
struct World {
    left: u32,
    log: Vec<&'static str>,
}

#[derive(Debug, PartialEq, Action)]
enum Decision {
    Search,
    Answer,
}

/// A node that does nothing but to write its name into the log, and to decide.
macro_rules! step {
    ($name:ident, $label:literal, $action:ty, |$state:ident| $decides:expr) => {
        struct $name;

        impl Node for $name {
            type Output = ();
            const NAME: &'static str = $label;
        }

        impl Exec<World> for $name {
            async fn exec(&self, _: &Cx<'_, World>) -> Result<(), NodeError> {
                Ok(())
            }
        }

        impl Step<World> for $name {
            type Action = $action;

            async fn prep(_: &World) -> Result<Self, NodeError> {
                Ok($name)
            }

            fn post(self, (): (), $state: &mut World) -> Result<$action, NodeError> {
                $state.log.push($label);
                Ok($decides)
            }
        }
    };
}

step!(Decide, "decide", Decision, |state| if state.left == 0 { Decision::Answer } else { Decision::Search });
step!(Search, "search", (), |state| state.left -= 1);
step!(Answer, "answer", (), |state| ());

flow! {
    /// Searches as long as it has to.
    pub Research(World):
    Decide => match { Decision::Search => Search, Decision::Answer => Answer },
    Search => Decide,
    Answer => end,
}

fn world(left: u32) -> Run<World> {
    Run::new(ScriptedModel::new()).with_state(World { left, ..World::default() })
}

#[tokio::test]
async fn a_flow_loops_until_a_step_decides_otherwise() {
    let mut run = world(2);
    run.flow(Research).await.unwrap();
    assert_eq!(run.state().log, ["decide", "search", "decide", "search", "decide", "answer"]);
}

#[tokio::test]
async fn a_flow_starts_at_a_position() {
    let mut run = world(1);
    run.flow(Research).from(["Search"].into_iter().collect::<Position>()).await.unwrap();
    assert_eq!(run.state().log, ["search", "decide", "answer"]);
}
