// Cause: the validator's error is not `Invalid`.
// Mend: return `Result<(), Invalid>`, and `Err(Invalid::new("…"))` for a bad answer.
use llmnode::{llm_node, llm_output, validate};

struct World;

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn item_is_given(&self) -> Result<(), String> {
        if self.item.is_empty() { Err("is empty".into()) } else { Ok(()) }
    }
}

#[llm_node(prompt = "Choose.", output = Choice, state = World, retries = 2)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Choose);
}
