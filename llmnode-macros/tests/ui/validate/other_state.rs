// Cause: the output's validators read another state than the node.
// Mend: let both name the same type.
use llmnode::{Invalid, llm_node, llm_output, validate};

struct World;

struct Other;

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn item_is_given(&self, _: &Other) -> Result<(), Invalid> {
        if self.item.is_empty() { Err(Invalid::at("item", "is empty")) } else { Ok(()) }
    }
}

#[llm_node(prompt = "Choose.", output = Choice, state = World, retries = 2)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = (run.call(&Choose), Other);
}
