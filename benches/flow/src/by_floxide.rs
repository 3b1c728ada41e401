//! floxide: a workflow whose edges are an enum's variants, its state behind the lock that it brings.

use async_trait::async_trait;
use floxide::{FloxideError, Node, SharedState, Transition, Workflow, WorkflowCtx, workflow};
use serde::{Deserialize, Serialize};

use crate::task::{Counter, Decision, turn};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Context {
    counter: SharedState<Counter>,
}

#[derive(Clone, Debug)]
pub struct Add;

#[async_trait]
impl Node<Context> for Add {
    type Input = ();
    type Output = ();

    async fn process(&self, context: &Context, _: ()) -> Result<Transition<()>, FloxideError> {
        let mut counter = context.counter.get().await;
        turn(counter.yields).await;
        counter.count += 1;
        Ok(Transition::Next(()))
    }
}

#[derive(Clone, Debug)]
pub enum Next {
    More(()),
    Enough(u64),
}

#[derive(Clone, Debug)]
pub struct Decide;

#[async_trait]
impl Node<Context> for Decide {
    type Input = ();
    type Output = Next;

    async fn process(&self, context: &Context, _: ()) -> Result<Transition<Next>, FloxideError> {
        let counter = context.counter.get().await;
        turn(counter.yields).await;
        Ok(Transition::Next(match counter.decide() {
            Decision::More => Next::More(()),
            Decision::Enough => Next::Enough(counter.count),
        }))
    }
}

/// What a workflow ends with has to be a node: one step more in a run.
#[derive(Clone, Debug)]
pub struct Done;

#[async_trait]
impl Node<Context> for Done {
    type Input = u64;
    type Output = u64;

    async fn process(&self, _: &Context, count: u64) -> Result<Transition<u64>, FloxideError> {
        Ok(Transition::Next(count))
    }
}

workflow! {
    pub struct Count {
        add: Add,
        decide: Decide,
        done: Done,
    }
    start = add;
    context = Context;
    edges {
        add => { [ decide ] };
        decide => {
            Next::More(_) => [ add ];
            Next::Enough(_) => [ done ];
        };
        done => {};
    }
}

pub async fn run(steps: u64, yields: bool) -> u64 {
    let context = WorkflowCtx::new(Context {
        counter: SharedState::new(Counter::of(steps, yields)),
    });
    Count {
        add: Add,
        decide: Decide,
        done: Done,
    }
    .run(&context, ())
    .await
    .unwrap()
}
