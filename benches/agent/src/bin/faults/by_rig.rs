//! rig's agent. Its errors carry no usage; what a program knows then is nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rig::agent::AgentBuilder;
use rig::providers::openai::OpenAIConfig;
use rig::tool::PortableTool;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{End, PATIENCE, QUESTION};

type Executed = Arc<AtomicU64>;

#[derive(Deserialize)]
struct Sum {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Nothing {}

#[derive(Debug)]
struct Failed;

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the disk is full")
    }
}

impl std::error::Error for Failed {}

/// A tool with a struct, a name, what it takes and does.
macro_rules! tool {
    ($tool:ident, $name:literal, $args:ty, $parameters:expr, $does:expr) => {
        struct $tool(Executed);

        impl PortableTool for $tool {
            const NAME: &'static str = $name;
            type Args = $args;
            type Output = i64;
            type Error = Failed;

            fn description(&self) -> String {
                concat!($name, "s.").to_owned()
            }

            fn parameters(&self) -> Value {
                $parameters
            }

            async fn call(&self, args: $args) -> Result<i64, Failed> {
                self.0.fetch_add(1, Ordering::Relaxed);
                $does(args).await
            }
        }
    };
}

fn none() -> Value {
    json!({"type": "object", "properties": {}})
}

fn numbers() -> Value {
    let number = json!({"type": "integer"});
    json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]})
}

tool!(Add, "add", Sum, numbers(), async |Sum { a, b }| Ok(a + b));
tool!(Fail, "fail", Nothing, none(), async |_| Err(Failed));
tool!(Crash, "crash", Nothing, none(), async |_| panic!("a bug"));
tool!(Hang, "hang", Nothing, none(), async |_| {
    std::future::pending().await
});

pub async fn run(url: &str, model: &str) -> End {
    let executed = Executed::default();
    let model = OpenAIConfig::new("sk-test")
        .with_base_url(url)
        .client()
        .chat(model);
    let made = |executed: &Executed| Arc::clone(executed);
    let agent = AgentBuilder::new(model)
        .tool(Add(made(&executed)))
        .tool(Fail(made(&executed)))
        .tool(Crash(made(&executed)))
        .tool(Hang(made(&executed)))
        .build();
    // On a task of its own, since a panic of a tool may end it.
    let asked = tokio::spawn(async move { agent.prompt(QUESTION).max_turns(10).await });
    let (how, known) = match tokio::time::timeout(PATIENCE, asked).await {
        Err(_) => ("hangs".to_owned(), 0),
        Ok(Err(_)) => ("panics".to_owned(), 0),
        Ok(Ok(Ok(answer))) => (
            "answered".to_owned(),
            answer.usage().total_tokens.unwrap_or(0),
        ),
        Ok(Ok(Err(error))) => {
            let name = format!("{error:?}");
            (
                format!(
                    "`{}`",
                    name.split([' ', '(', '{']).next().unwrap_or_default()
                ),
                0,
            )
        }
    };
    End {
        how,
        known,
        executed: executed.load(Ordering::Relaxed),
    }
}
