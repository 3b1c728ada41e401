//! A node written by hand, so that the runtime is tested without the macros.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use llmnode_runtime::private::{Checks, Coverage};
use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{
    AttemptInfo, BoxError, Category, Cx, Exec, Invalid, ModelError, Node, NodeFacts, Reply, Run,
    ScriptedModel, Settings, TestClock, TokenUsage, Violation,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// The state of the tests.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) inventory: Vec<&'static str>,
    /// What the `mood` validator does.
    pub(crate) mood: Mood,
    pub(crate) seen: AtomicUsize,
}

#[derive(Clone, Copy, Default)]
pub(crate) enum Mood {
    #[default]
    Calm,
    Warn,
    Abort,
    /// Panics in the validator that is not async.
    PanicAtOnce,
    Panic,
    PanicLater,
    /// Lets other tasks run.
    Yield,
    Hang,
    /// Takes a second.
    Slow,
    AcceptLast,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Choice {
    pub(crate) item: String,
}

impl Choice {
    fn item_is_available(&self, world: &World) -> Result<(), Invalid> {
        world.seen.fetch_add(1, Ordering::Relaxed);
        assert!(
            !matches!(world.mood, Mood::PanicAtOnce),
            "a bug before any await"
        );
        if world.inventory.contains(&self.item.as_str()) {
            return Ok(());
        }
        Err(
            Invalid::at("item", format!("{:?} is not available", self.item))
                .allowed(&world.inventory),
        )
    }

    async fn mood(&self, world: &World, attempt: &AttemptInfo) -> Result<(), Invalid> {
        match world.mood {
            Mood::Calm | Mood::PanicAtOnce => Ok(()),
            Mood::Yield => {
                tokio::task::yield_now().await;
                Ok(())
            }
            Mood::Warn => Err(Invalid::warn("an odd choice")),
            Mood::Abort => Ok(Err(std::io::Error::other("the database is gone"))?),
            Mood::Panic => panic!("a bug in the validator"),
            Mood::PanicLater => {
                tokio::task::yield_now().await;
                panic!("a bug after an await")
            }
            Mood::Hang => {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                Ok(())
            }
            Mood::Slow => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Ok(())
            }
            Mood::AcceptLast if attempt.is_last() => Ok(()),
            Mood::AcceptLast => Err(Invalid::new(format!(
                "try {} of {}",
                attempt.index(),
                attempt.maximum()
            ))),
        }
    }
}

/// Asks for a [`Choice`]; two corrections.
pub(crate) struct Choose {
    pub(crate) goal: &'static str,
}

impl Node for Choose {
    type Output = Choice;
    const NAME: &'static str = "choose";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
    const SETTINGS: &'static Settings = &Settings::new().retries(2).stop_on_repeat(false);
}

impl Exec<World> for Choose {
    async fn exec(&self, cx: &Cx<'_, World>) -> Result<Choice, llmnode_runtime::BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl LlmNode<World> for Choose {
    fn render(&self, state: &World, to: &mut Prompt) {
        to.system(&[Segment::text("You are careful.")]);
        to.user(&[
            Segment::text("Goal: "),
            Segment::value(&self.goal),
            Segment::text("\n"),
            Segment::list(&state.inventory),
        ]);
    }

    fn output(&self) -> OutputSpec<Choice, World> {
        fn collect<'a>(choice: &'a Choice, to: &mut Checks<'a, World>) {
            to.sync("item_is_available", |world, _| {
                choice.item_is_available(world)
            });
            to.future("mood", |world, attempt| choice.mood(world, attempt));
        }
        OutputSpec::json(|_: &mut Coverage| {}, collect)
    }
}

/// Asks for text, with any state.
pub(crate) struct Say {
    pub(crate) what: String,
}

impl Node for Say {
    type Output = String;
    const NAME: &'static str = "say";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}

impl<S: ?Sized + Sync> Exec<S> for Say {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl<S: ?Sized + Sync> LlmNode<S> for Say {
    fn render(&self, _: &S, to: &mut Prompt) {
        to.user(&[Segment::value(&self.what)]);
    }

    fn output(&self) -> OutputSpec<String, S> {
        OutputSpec::text()
    }
}

pub(crate) fn say(what: &str) -> Say {
    Say {
        what: what.to_owned(),
    }
}

pub(crate) fn world() -> World {
    World {
        inventory: vec!["key", "lamp"],
        ..World::default()
    }
}

pub(crate) const GOAL: Choose = Choose {
    goal: "open the door",
};
pub(crate) const GOOD: &str = r#"{"item": "key"}"#;
pub(crate) const BAD: &str = r#"{"item": "axe"}"#;

/// The texts of violations.
pub(crate) fn lines(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(ToString::to_string).collect()
}

pub(crate) fn script(replies: impl IntoIterator<Item = impl Into<Reply>>) -> ScriptedModel {
    replies
        .into_iter()
        .fold(ScriptedModel::new(), ScriptedModel::reply)
}

pub(crate) fn run(model: &ScriptedModel) -> Run<World> {
    Run::new(model.clone())
        .with_clock(TestClock::new())
        .with_state(world())
}

pub(crate) fn busy() -> ModelError {
    ModelError::new(Category::ServerError, "HTTP 503: overloaded")
}

/// A node that asks what `Choose` asks.
macro_rules! node_like_choose {
    ($node:ty $(, $fallback:expr)?) => {
        impl Exec<World> for $node {
            async fn exec(&self, cx: &Cx<'_, World>) -> Result<Choice, llmnode_runtime::BoxError> {
                llmnode_runtime::private::exec(self, cx).await
            }
        }
        impl LlmNode<World> for $node {
            fn render(&self, state: &World, to: &mut Prompt) {
                GOAL.render(state, to);
            }
            fn output(&self) -> OutputSpec<Choice, World> {
                GOAL.output()
            }
            $(fn fallback<'a>(
                &'a self,
                state: &'a World,
                error: &'a NodeError,
                to: &'a mut Option<Choice>,
            ) -> Option<FallbackFuture<'a>> {
                Some(fallback_with_state(self, state, error, $fallback, to))
            })?
        }
    };
}
pub(crate) use node_like_choose;

pub(crate) fn input_tokens(input: u64) -> TokenUsage {
    let mut usage = TokenUsage::default();
    usage.input = Some(input);
    usage
}

pub(crate) fn total_tokens(total: u64) -> TokenUsage {
    let mut usage = TokenUsage::default();
    usage.total = Some(total);
    usage
}
