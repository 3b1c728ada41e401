// Cause: the bounds of the state stand in a `where` clause.
// Mend: write them where the parameter is declared, `<S: Sync>`.
use llmnode::{Invalid, llm_node, llm_output, validate};

struct World;

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn item_is_given<S>(&self, _: &S) -> Result<(), Invalid>
    where
        S: Sync,
    {
        if self.item.is_empty() { Err(Invalid::at("item", "is empty")) } else { Ok(()) }
    }
}

#[llm_node(prompt = "Choose.", output = Choice, state = World)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Choose);
}
