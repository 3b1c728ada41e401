//! graph-flow: a graph of tasks over a map of JSON values, walked in memory, nothing stored.

use std::sync::Arc;

use async_trait::async_trait;
use graph_flow::{Context, Graph, GraphBuilder, NextAction, Session, Task, TaskResult};

use crate::task::{Counter, turn};

struct Add;

#[async_trait]
impl Task for Add {
    fn id(&self) -> &str {
        "add"
    }

    async fn run(&self, context: Context) -> graph_flow::Result<TaskResult> {
        turn(context.get("yields").unwrap()).await;
        let count: u64 = context.get("count").unwrap();
        context.set("count", count + 1)?;
        Ok(TaskResult::new(None, NextAction::ContinueAndExecute))
    }
}

struct Decide;

#[async_trait]
impl Task for Decide {
    fn id(&self) -> &str {
        "decide"
    }

    async fn run(&self, context: Context) -> graph_flow::Result<TaskResult> {
        turn(context.get("yields").unwrap()).await;
        let (count, limit): (u64, u64) =
            (context.get("count").unwrap(), context.get("limit").unwrap());
        let next = if count < limit {
            NextAction::ContinueAndExecute
        } else {
            NextAction::End
        };
        Ok(TaskResult::new(None, next))
    }
}

pub fn graph() -> Arc<Graph> {
    let builder = GraphBuilder::new("count")
        .add_task(Arc::new(Add))
        .add_task(Arc::new(Decide));
    Arc::new(
        builder
            .add_edge("add", "decide")
            .add_edge("decide", "add")
            .build()
            .unwrap(),
    )
}

pub async fn run(graph: Arc<Graph>, steps: u64, yields: bool) -> u64 {
    let mut session = Session::new_from_task("session".to_owned(), "add");
    let Counter {
        count,
        limit,
        yields,
        notes,
    } = Counter::of(steps, yields);
    session.context.set("count", count).unwrap();
    session.context.set("limit", limit).unwrap();
    session.context.set("yields", yields).unwrap();
    session.context.set("notes", notes).unwrap();
    graph.execute_session(&mut session).await.unwrap();
    session.context.get("count").unwrap()
}
