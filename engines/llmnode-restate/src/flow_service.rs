//! The flows of a worker, of any state.

use std::future::Future;
use std::sync::Arc;

use llmnode::flow::{RunExt, RunFlow};
use llmnode::journal::{Replay, ReplayStart};
use llmnode::{BoxError, Category, ModelError, NodeError, Run};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Nodes whose outputs settle calls in doubt.
pub(crate) type Settling = Arc<[fn(ReplayStart) -> ReplayStart]>;

/// Makes a run of a flow for an input.
pub(crate) type FlowService = Arc<dyn Fn(Value, Settling) -> Replay<Ended> + Send + Sync>;

/// The state and the action at the end.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) state: Value,
    pub(crate) action: Value,
}

pub(crate) fn flow_service<I, S, F, M>(
    make: impl Fn(I) -> M + Send + Sync + 'static,
    flow: impl Fn() -> F + Send + Sync + 'static,
) -> FlowService
where
    I: DeserializeOwned + Send + 'static,
    M: Future<Output = Result<Run<S>, BoxError>> + Send + 'static,
    S: Serialize + DeserializeOwned + Send + Sync + 'static,
    F: for<'r> RunFlow<'r, S, Action: Serialize + DeserializeOwned + Send> + Send + 'static,
{
    let make = Arc::new(make);
    let flow = Arc::new(flow);
    Arc::new(move |input: Value, settling: Settling| {
        let make = Arc::clone(&make);
        let flow = Arc::clone(&flow);
        // The flow may be started from its journal more than once, each time with a run of its own.
        Replay::new(move |start| {
            let make = Arc::clone(&make);
            let flow = flow();
            let input = input.clone();
            let start = settling.iter().fold(start, |start, settles| settles(start));
            async move {
                let mut run = make(read(input)?).await.map_err(of_the_program)?;
                let action = start.resume(run.flow(flow))?.await?;
                ended(&run.into_state(), &action)
            }
        })
    })
}

pub(crate) fn read<I: DeserializeOwned>(input: Value) -> Result<I, NodeError> {
    serde_json::from_value(input).map_err(|error| {
        NodeError::new(
            Category::ConfigError,
            format!("the input cannot be read: {error}"),
        )
    })
}

pub(crate) fn ended<S: Serialize, A: Serialize>(state: &S, action: &A) -> Result<Ended, NodeError> {
    Ok(Ended {
        state: as_json(state)?,
        action: as_json(action)?,
    })
}

fn as_json(value: &impl Serialize) -> Result<Value, NodeError> {
    serde_json::to_value(value).map_err(|error| {
        NodeError::new(
            Category::ConfigError,
            format!("what came of the flow cannot be written as JSON: {error}"),
        )
    })
}

/// An error of the function that makes a run. Those of llmnode keep their category.
pub(crate) fn of_the_program(error: BoxError) -> NodeError {
    let error = match error.downcast::<NodeError>() {
        Ok(error) => return *error,
        Err(error) => error,
    };
    match error.downcast::<ModelError>() {
        Ok(error) => NodeError::from(*error),
        Err(error) => NodeError::new(
            Category::ConfigError,
            format!("the run could not be made: {error}"),
        ),
    }
}

#[cfg(feature = "graph")]
pub(crate) fn graph_service<M>(
    make: impl Fn() -> M + Send + Sync + 'static,
    graph: llmnode::graph::Graph,
) -> FlowService
where
    M: Future<Output = Result<Run, BoxError>> + Send + 'static,
{
    let make = Arc::new(make);
    Arc::new(move |input: Value, settling: Settling| {
        let make = Arc::clone(&make);
        let graph = graph.clone();
        Replay::new(move |start| {
            let make = Arc::clone(&make);
            let graph = graph.clone();
            let input = input.clone();
            let start = settling.iter().fold(start, |start, settles| settles(start));
            async move {
                let state = graph.start(input)?;
                let mut run = make().await.map_err(of_the_program)?.with_state(state);
                let action = start.resume(run.flow(&graph))?.await?;
                ended(&run.into_state(), &action)
            }
        })
    })
}
