//! Running a node on scripted answers.

use llmnode::{Exec, NodeError, Reply, Run, ScriptedModel};

/// What validators, prompts and tools look at.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    pub(crate) items: Vec<String>,
}

pub(crate) fn world() -> World {
    World {
        items: vec!["key".to_owned()],
    }
}

/// A model that answers so.
pub(crate) fn model<R: Into<Reply>>(answers: impl IntoIterator<Item = R>) -> ScriptedModel {
    answers
        .into_iter()
        .fold(ScriptedModel::new(), ScriptedModel::reply)
}

/// The output of a node that is asked once, on a state.
pub(crate) async fn on<S: Sync + 'static, N: Exec<S>>(
    state: S,
    node: &N,
    answer: &str,
) -> Result<N::Output, NodeError> {
    Run::new(model([answer])).with_state(state).call(node).await
}

/// The output of a node without a state.
pub(crate) async fn ask<N: Exec<()>>(node: &N, answer: &str) -> N::Output {
    on((), node, answer)
        .await
        .unwrap_or_else(|error| unreachable!("{error}"))
}

/// The message of a node without a state.
pub(crate) fn message<N: llmnode::Exec<()>>(node: &N) -> String {
    llmnode::testing::request_of(node, &())
        .messages
        .last()
        .map(|message| message.content.clone())
        .unwrap_or_default()
}

/// The complaints about an answer.
pub(crate) async fn complaints<S: Sync + 'static, N: Exec<S>>(
    state: S,
    node: &N,
    answer: &str,
) -> Vec<String> {
    match on(state, node, answer).await {
        Ok(_) => vec![],
        Err(error) => {
            let attempts = error.attempts();
            assert!(!attempts.is_empty(), "{error}");
            attempts
                .iter()
                .flat_map(|one| &one.violations)
                .map(|one| one.path.clone())
                .collect()
        }
    }
}
