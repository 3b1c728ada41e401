// Cause: `#[validate]` on a definition stands below the derives, where it cannot see them.
// Mend: move it above them, or write `#[llm_output]` in place of both.
use llmnode::llm_node;

struct World;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[llmnode::validate(state = World)]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Choose.", output = Choice, state = World, retries = 2)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = Choice { item: String::new() }.item;
    let _ = run.call(&Choose);
}
