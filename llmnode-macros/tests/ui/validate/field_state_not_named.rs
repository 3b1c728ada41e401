// Cause: a field's type has validators that read a state, and the type around it does not name that state.
// Mend: write `#[llm_output(state = World)]` on the type around it.
use llmnode::{Invalid, llm_node, llm_output, validate};

struct World;

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn item_is_given(&self, _: &World) -> Result<(), Invalid> {
        if self.item.is_empty() { Err(Invalid::at("item", "is empty")) } else { Ok(()) }
    }
}

#[llm_output]
struct Page {
    choices: Vec<Choice>,
}

#[llm_node(prompt = "Choose.", output = Page, state = World)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Choose);
}
