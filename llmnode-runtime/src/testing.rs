//! What tests of nodes use: models that answer by a script or a function, requests as text to compare, a clock whose
//! waits take no time, and a guard against real requests.
//!
//! `use llmnode::testing::*;` imports everything. The page `docs/testing.md` is the guide.
//!
//! | variable | |
//! |---|---|
//! | `LLMNODE_FORBID_REQUESTS=1` | as [`forbid_requests`], for the whole process |
//! | `LLMNODE_FORBID_REQUESTS=all` | as [`forbid_all_requests`], for the whole process |
//!
//! A variable that is empty, `0` or `false` counts as not set.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::run::{Exec, Run};
use llmnode_model::Category;
use llmnode_model::{ModelError, Request};

pub use llmnode_model::TokenUsage;
pub use llmnode_model::testing::{
    FnModel, Reply, ScriptedModel, assert_prompt, forbid_all_requests, forbid_requests,
};

pub use crate::clock::TestClock;

/// Returns the first request of a node with this state, exactly as a run would send it.
///
/// It has the settings of the node's attributes. Limits have no effect. What a run or a call sets, and corrections,
/// are in the requests that a [`ScriptedModel`] records.
///
/// # Panics
/// If the node sends no request: with the call's error, such as a `prep_error`, or because it asks no model or waits
/// for something else first.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// # use llmnode::{BoxError, Cx, Exec, Node, NodeFacts};
/// # use llmnode::private::{LlmNode, OutputSpec, Prompt, Segment};
/// # struct Greet { name: String }
/// # impl Node for Greet {
/// #     type Output = String;
/// #     const NAME: &'static str = "greet";
/// #     const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
/// # }
/// # impl<S: ?Sized + Sync> Exec<S> for Greet {
/// #     async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> { llmnode::private::exec(self, cx).await }
/// # }
/// # impl<S: ?Sized + Sync> LlmNode<S> for Greet {
/// #     fn render(&self, _: &S, to: &mut Prompt) { to.user(&[Segment::text("Greet "), Segment::value(&self.name)]); }
/// #     fn output(&self) -> OutputSpec<String, S> { OutputSpec::text() }
/// # }
/// use llmnode::testing::request_of;
///
/// // #[llm_node(prompt = "Greet {name}")]
/// let request = request_of(&Greet { name: "Ada".into() }, &());
/// assert_eq!(request.messages[0].content, "Greet Ada");
/// ```
#[track_caller]
#[expect(clippy::panic, reason = "how a test fails")]
pub fn request_of<N, S>(node: &N, state: &S) -> Request
where
    N: Exec<S>,
    S: ?Sized + Sync,
{
    // Nothing recovers from a `config_error`, so the node ends with the first request.
    let model =
        FnModel::new(|_| ModelError::unsent(Category::ConfigError, "only the request is wanted"));
    // A limit may need prices, and a deadline on tokio's clock a runtime.
    let run = Run::new(model.clone())
        .without_limits()
        .with_clock(TestClock::new());
    // Nothing waits here, so one poll reaches the first request.
    let polled = {
        let call = pin!(run.call_on(state, node));
        call.poll(&mut Context::from_waker(Waker::noop()))
            .map(|outcome| outcome.err())
    };
    let why = match (model.requests().into_iter().next(), polled) {
        (Some(request), _) => return request,
        (None, Poll::Ready(Some(error))) => error.to_string(),
        (None, Poll::Ready(None)) => "it answers without a model".to_owned(),
        (None, Poll::Pending) => {
            "it waits for something before its first request; call it on a run".to_owned()
        }
    };
    panic!("the node `{}` sends no request: {why}", node.name())
}
