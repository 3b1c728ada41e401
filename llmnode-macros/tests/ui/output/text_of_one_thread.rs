// Cause: a field of an answer is an `Rc`.
// Mend: write `String`.
// Errors: 3
// Token: Rc<str>
use std::rc::Rc;

use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: Rc<str>,
}

#[llm_node(prompt = "Goal: {goal}", output = Choice)]
struct Choose {
    goal: String,
}

async fn choose(run: &Run) -> Result<usize, NodeError> {
    let goal = "open the door".into();
    Ok(run.call(&Choose { goal }).await?.item.len())
}

fn main() {}
