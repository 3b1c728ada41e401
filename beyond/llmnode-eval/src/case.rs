//! One case: the call of its node, then the metric.

use std::sync::Arc;

use llmnode_runtime::internal::CxInternals as _;
use llmnode_runtime::{
    BoxError, CallRecord, Category, Cx, Exec, Group, Node, NodeFacts, Settings, Usage,
};
use serde::Serialize;
use serde_json::Value;

use super::metric::{Metric, ScoredCase};
use super::score::Score;

/// How many answers came from a journal, and what they used.
pub fn replayed<'a>(calls: impl Iterator<Item = &'a Arc<CallRecord>>) -> (u32, Usage) {
    calls.fold(Default::default(), |(mut count, mut usage), call| {
        count += call.replayed;
        usage += call.replayed_usage();
        (count, usage)
    })
}

/// Whether a failure of this category says nothing about a single case, and what it asks for has to be mended first.
pub fn is_fatal(category: Category) -> bool {
    category.group() == Group::Stop && !matches!(category, Category::Panic | Category::PrepError)
}

/// Whether a failure of this category is of the provider, the way to it or the account, so that it is no score of the answer.
pub fn is_outage(category: Category) -> bool {
    let of_account = matches!(
        category,
        Category::ApiKeyError | Category::QuotaError | Category::NotFound
    );
    of_account || category.group() == Group::Transport
}

/// A node, so that a case is one call with one record.
pub struct Case<'a, N, E, M> {
    pub(crate) input: &'a N,
    pub(crate) expected: &'a E,
    pub(crate) metric: &'a M,
    pub(crate) settings: &'a Settings,
}

/// What a case comes to.
pub struct Scored {
    pub(crate) score: Score,
    pub(crate) output: Value,
    pub(crate) replayed: u32,
    pub(crate) model: Option<String>,
}

#[diagnostic::do_not_recommend]
impl<N: Node, E, M> Node for Case<'_, N, E, M> {
    type Output = Scored;
    const NAME: &'static str = "evaluate";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}

#[diagnostic::do_not_recommend]
impl<S, N, E, M> Exec<S> for Case<'_, N, E, M>
where
    S: ?Sized + Sync,
    N: Exec<S, Output: Serialize>,
    E: Sync,
    M: Metric<N, E, S>,
{
    // The nodes of a case retry by their own settings.
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<Scored, BoxError> {
        let answered = cx
            .call(self.input)
            .settings(self.settings.clone())
            .report()
            .await?;
        let judged = ScoredCase {
            input: self.input,
            expected: self.expected,
            output: &answered.value,
        };
        let score = self.metric.score(judged, cx).await?;
        if let Some(wrong) = score.wrong() {
            return Err(format!("the metric gave {wrong}; a score is a number from 0 to 1").into());
        }
        let output = serde_json::to_value(&answered.value)?;
        let record = &answered.record;
        let model = record
            .attempts
            .last()
            .and_then(|attempt| attempt.model.clone());
        Ok(Scored {
            score,
            output,
            replayed: replayed(cx.child_calls().iter()).0,
            model,
        })
    }
}
