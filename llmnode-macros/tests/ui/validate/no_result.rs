// Cause: a method among the validators returns no `Result<(), Invalid>`.
// Mend: return `Err(Invalid::new("…"))` for a bad answer, or move the method to an `impl` block without `#[validate]`.
use llmnode::{llm_node, llm_output, validate};

struct World;

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn item_is_given(&self) -> bool {
        !self.item.is_empty()
    }
}

#[llm_node(prompt = "Choose.", output = Choice, state = World, retries = 2)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Choose);
}
