// Cause: a function without `&self` stands among the validators.
// Mend: move it to an `impl` block without `#[validate]`.
use llmnode::{llm_node, llm_output, validate};

struct World;

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn new(item: String) -> Self {
        Choice { item }
    }
}

#[llm_node(prompt = "Choose.", output = Choice, state = World, retries = 2)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = Choice::new(String::new());
    let _ = run.call(&Choose);
}
