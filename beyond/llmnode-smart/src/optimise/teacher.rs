//! The teacher's answers to one training case.

use std::borrow::Cow;
use std::sync::Arc;

use llmnode_runtime::internal::{CxInternals as _, ErrorInternals as _};
use llmnode_runtime::private::LlmNode;
use llmnode_runtime::{BoxError, Cx, Exec, Node, NodeError, NodeFacts, Settings};
use serde::Serialize;

use super::labels::check_demo;
use crate::node::WithReasoning;
use crate::program::Program;
use crate::signature::{Demo, Smart};
use llmnode_eval::ext::{is_fatal, is_outage};
use llmnode_eval::{Metric, ScoredCase};

pub(super) struct Lesson<'a, N, E, M> {
    pub(super) case: &'a (N, E),
    pub(super) metric: &'a M,
    pub(super) program: Program<N>,
    pub(super) model: Option<&'a Cow<'static, str>>,
    pub(super) rounds: u32,
    pub(super) threshold: f64,
}

#[derive(Default)]
pub(super) struct LessonOutcome {
    pub(super) demo: Option<Demo>,
    pub(super) score: f64,
    pub(super) model: Option<String>,
}

impl<N: Smart, E, M> Node for Lesson<'_, N, E, M> {
    type Output = LessonOutcome;
    const NAME: &'static str = "teach";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}

#[diagnostic::do_not_recommend]
impl<S, N, E, M> Exec<S> for Lesson<'_, N, E, M>
where
    S: ?Sized + Sync,
    N: Smart + LlmNode<S> + Exec<S, Output: Serialize>,
    E: Sync,
    M: Metric<N, E, S>,
{
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<LessonOutcome, BoxError> {
        let core = cx.core_with_node_data::<N>(Arc::new(self.program.clone()));
        let cx = cx.with_core(&core);
        let mut learnt = LessonOutcome::default();
        for round in 0..self.rounds {
            match self.ask(&cx, round).await {
                Ok(answers) => learnt = answers,
                Err(error) => match NodeError::downcast(error) {
                    Ok(error) if is_fatal(error.category()) || is_outage(error.category()) => {
                        return Err(error.into());
                    }
                    // A failed answer teaches nothing.
                    _ => {}
                },
            }
            if learnt.demo.is_some() {
                break;
            }
        }
        Ok(learnt)
    }
}

impl<N, E, M> Lesson<'_, N, E, M> {
    async fn ask<S>(&self, cx: &Cx<'_, S>, round: u32) -> Result<LessonOutcome, BoxError>
    where
        S: ?Sized + Sync,
        N: Smart + LlmNode<S> + Exec<S, Output: Serialize>,
        E: Sync,
        M: Metric<N, E, S>,
    {
        let (input, expected) = self.case;
        let answered = cx
            .call(&WithReasoning(input))
            .settings(self.settings(round))
            .report()
            .await?;
        let thought = &answered.value;
        let score = self
            .metric
            .score(
                ScoredCase {
                    input,
                    expected,
                    output: &thought.value,
                },
                cx,
            )
            .await?
            .value;
        let passed = score >= self.threshold;
        let demo = passed
            .then(|| Demo::of(input, &thought.value, thought.reasoning.as_deref()))
            .transpose()?;
        // An output that cannot be read back cannot be an example.
        let demo = demo.filter(|demo| check_demo::<N>(demo).is_ok());
        let model = answered
            .record
            .attempts
            .last()
            .and_then(|attempt| attempt.model.clone());
        Ok(LessonOutcome { demo, score, model })
    }

    /// A further round needs a different answer.
    fn settings(&self, round: u32) -> Settings {
        let settings = if round == 0 {
            Settings::new()
        } else {
            Settings::new().temperature(1.0)
        };
        match self.model {
            Some(model) => settings.model(model.clone()),
            None => settings,
        }
    }
}
