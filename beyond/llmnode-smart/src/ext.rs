//! The methods of a run for nodes with a goal.

use std::sync::Arc;

use llmnode_runtime::Run;
use llmnode_runtime::internal::RunInternals;

use crate::program::Program;
use crate::refine::Refine;
use crate::signature::Smart;

/// Methods of [`Run`] for nodes with a goal. It is in the prelude.
pub trait SmartExt: Sized {
    /// Sets the program that all calls of a node on this run use, including those in flows and other nodes. Earlier clones of the run are
    /// not changed.
    #[must_use]
    fn with_program<N: Smart>(self, program: Program<N>) -> Self;

    /// Tries a node several times, until its output is good enough. Each try gets feedback on the one before.
    ///
    /// ```
    /// use llmnode::prelude::*;
    ///
    /// #[llm_output]
    /// struct Verdict {
    ///     holds: bool,
    ///     words: u32,
    /// }
    ///
    /// #[llm_node(goal = "Judge the claim.", output = Verdict)]
    /// struct Judge {
    ///     claim: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), NodeError> {
    /// let model = ScriptedModel::new().reply(r#"{"holds": true, "words": 9}"#).reply(r#"{"holds": true, "words": 2}"#);
    /// let run = Run::new(model);
    /// let judge = Judge { claim: "2 is even".into() };
    /// let best = run.refine(&judge).reward(|_, verdict| 1.0 / f64::from(verdict.words)).at_least(0.5).await?;
    /// assert_eq!((best.value.words, best.met, best.tries), (2, true, 2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If all tries fail: the last error. An output that is not good enough is not an error: see [`Refined::met`](crate::Refined::met).
    fn refine<'r, N: Smart>(&'r self, node: &'r N) -> Refine<'r, N, &'r Self>;

    /// Tries a node several times, and takes the best output. The tries know nothing of each other.
    ///
    /// # Errors
    /// As [`refine`](SmartExt::refine).
    fn best_of<'r, N: Smart>(&'r self, node: &'r N) -> Refine<'r, N, &'r Self>;
}

impl<S> SmartExt for Run<S> {
    fn with_program<N: Smart>(self, program: Program<N>) -> Self {
        RunInternals::with_node_data::<N>(self, Arc::new(program))
    }

    fn refine<'r, N: Smart>(&'r self, node: &'r N) -> Refine<'r, N, &'r Self> {
        Refine::on(self, node, true)
    }

    fn best_of<'r, N: Smart>(&'r self, node: &'r N) -> Refine<'r, N, &'r Self> {
        Refine::on(self, node, false)
    }
}
