//! Spans and metrics of a run in OpenTelemetry's SDK, printed as a tree.
//!
//! Needs no key and no collector: the model is scripted, the exporters keep everything in memory. With
//! `opentelemetry-otlp` in their place, the same goes to a collector.

mod telemetry;
#[cfg(test)]
mod tests;
mod tree;

use llmnode::prelude::*;
use llmnode::{BoxError, Exec, Node};

use telemetry::Telemetry;

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn exists(&self) -> Result<(), Invalid> {
        if self.item == "key" {
            Ok(())
        } else {
            Err(Invalid::at("item", "is not there"))
        }
    }
}

#[llm_node(prompt = "What opens {what}?", output = Choice, model = "gpt-6-luna", retries = 1)]
struct Choose {
    what: String,
}

#[llm_node(prompt = "Describe {what}.", model = "gpt-6-luna", max_tokens = 100)]
struct Describe {
    what: String,
}

/// Asks both of the others, side by side.
struct Explore {
    what: String,
}

impl Node for Explore {
    type Output = String;
    const NAME: &'static str = "explore";
}

impl<S: ?Sized + Sync> Exec<S> for Explore {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        let (choose, describe) = (
            Choose {
                what: self.what.clone(),
            },
            Describe {
                what: self.what.clone(),
            },
        );
        let (choice, text) = tokio::try_join!(cx.call(&choose), cx.call(&describe))?;
        Ok(format!("{text} It opens with the {}.", choice.item))
    }
}

/// A bad answer and a good one for the first call, which never waits, then one for the second.
fn model() -> ScriptedModel {
    ScriptedModel::new()
        .reply(r#"{"item": "axe"}"#)
        .reply(r#"{"item": "key"}"#)
        .reply("An oak door.")
}

async fn explore(telemetry: &Telemetry) -> Result<String, NodeError> {
    let run = Run::new(model()).on_attempt(telemetry.meter());
    run.call(&Explore {
        what: "the door".into(),
    })
    .await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let telemetry = Telemetry::new();
    let _default = telemetry.subscribe();
    println!("{}\n", explore(&telemetry).await?);
    print!("{}", tree::of(&telemetry.spans()?));
    println!();
    for (metric, measured) in telemetry.metrics()? {
        println!("{metric}: {measured} values");
    }
    Ok(())
}
