//! llmnode's agent.

use std::sync::atomic::{AtomicU64, Ordering};

use llmnode::OpenAi;
use llmnode::prelude::*;

use crate::{End, PATIENCE, QUESTION};

#[derive(Default)]
struct World {
    executed: AtomicU64,
}

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64, world: &World) -> i64 {
    world.executed.fetch_add(1, Ordering::Relaxed);
    a + b
}

/// Fails.
#[tool]
fn fail(world: &World) -> Result<(), String> {
    world.executed.fetch_add(1, Ordering::Relaxed);
    Err("the disk is full".to_owned())
}

/// Crashes.
#[tool]
fn crash(world: &World) {
    world.executed.fetch_add(1, Ordering::Relaxed);
    panic!("a bug");
}

/// Hangs.
#[tool(deadline = 1s)]
async fn hang(world: &World) {
    world.executed.fetch_add(1, Ordering::Relaxed);
    std::future::pending::<()>().await;
}

#[llm_node(prompt = "{question}", state = World, tools = [Add, Fail, Crash, Hang])]
struct Work {
    question: &'static str,
}

pub async fn run(url: &str, model: &str) -> End {
    let run = Run::new(
        OpenAi::builder()
            .base_url(url)
            .api_key("sk-test")
            .model(model)
            .build()
            .unwrap(),
    );
    let run = run.with_state(World::default());
    let outcome = tokio::time::timeout(
        PATIENCE,
        run.call(&Work { question: QUESTION }).into_future(),
    )
    .await;
    let how = match outcome {
        Err(_) => "hangs".to_owned(),
        Ok(Ok(_)) => "answered".to_owned(),
        Ok(Err(error)) => format!("`{}`", error.category()),
    };
    let known = run.ledger().total().total.known;
    End {
        how,
        known,
        executed: run.state().executed.load(Ordering::Relaxed),
    }
}
