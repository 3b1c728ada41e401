// Cause: the fallback, a method, does not take the state of the node.
// Mend: add the parameter `_: &World`.
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

impl Rate {
    fn in_the_middle(&self, _: &NodeError) -> u8 {
        5
    }
}

#[llm_node(
    prompt = "How urgent is this?\n{letter}",
    output = u8,
    state = World,
    recover(schema_error = [fallback]),
    fallback = Rate::in_the_middle,
)]
struct Rate {
    letter: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let answer = run.call(&Rate { letter: "Help!".into() }).await?;
    println!("{}", answer);
    Ok(())
}
