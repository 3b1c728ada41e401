// Cause: an event of a stream is not a `Result`.
// Mend: drop the `?`; only `finish` and `report` can fail.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_node(prompt = "Plan a trip to {town}.")]
struct Plan {
    town: String,
}

async fn show(run: &Run, plan: Plan) -> Result<String, NodeError> {
    let mut answer = run.call(&plan).stream();
    while let Some(event) = answer.next().await {
        println!("{:?}", event?);
    }
    answer.finish().await
}

fn main() {}
