// Cause: the type has two blocks of validators.
// Mend: write all of its validators into one block.
use llmnode::{Invalid, llm_node, llm_output, validate};

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn item_is_given(&self) -> Result<(), Invalid> {
        if self.item.is_empty() { Err(Invalid::at("item", "is empty")) } else { Ok(()) }
    }
}

#[validate]
impl Choice {
    fn item_is_short(&self) -> Result<(), Invalid> {
        if self.item.len() > 9 { Err(Invalid::at("item", "is long")) } else { Ok(()) }
    }
}

#[llm_node(prompt = "Choose.", output = Choice, retries = 2)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
