//! Running a node on one answer.

use std::sync::Arc;

use llmnode::{Category, Exec, Invalid, Message, Run, ScriptedModel, llm_output, validate};

/// What validators look at.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) items: Vec<String>,
}

pub(crate) fn world() -> World {
    World {
        items: vec!["key".into()],
    }
}

/// An output with a validator that complains about every item but `key`.
#[llm_output]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) item: String,
}

#[validate]
impl Choice {
    fn is_there(&self, state: &World) -> Result<(), Invalid> {
        if state.items.contains(&self.item) {
            Ok(())
        } else {
            Err(Invalid::at("item", "no"))
        }
    }
}

/// The messages that a node sends.
pub(crate) async fn messages<S: Sync + 'static, N: Exec<S>>(state: S, node: &N) -> Vec<Message> {
    let model = Arc::new(ScriptedModel::new().reply("ok"));
    let run = Run::new(Arc::clone(&model)).with_state(state);
    drop(run.call(node).await);
    model.requests()[0].messages.clone()
}

/// The first message of a node that needs no state.
pub(crate) async fn prompt<N: Exec<()>>(node: &N) -> String {
    messages((), node).await[0].content.clone()
}

/// The paths at which an answer is found invalid.
pub(crate) async fn paths<S: Sync + 'static, N: Exec<S>>(
    state: S,
    node: &N,
    answer: &str,
) -> Vec<String> {
    let run = Run::new(ScriptedModel::new().reply(answer)).with_state(state);
    match run.call(node).await {
        Ok(_) => vec![],
        Err(error) => {
            assert_eq!(error.category(), Category::ValidationError, "{error}");
            error.attempts()[0]
                .violations
                .iter()
                .map(|violation| violation.path.clone())
                .collect()
        }
    }
}
