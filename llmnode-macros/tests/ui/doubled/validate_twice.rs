// Cause: `#[validate]` stands twice on an impl block.
// Mend: keep one.
use llmnode::{Invalid, llm_node, llm_output, validate};

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
#[validate]
impl Choice {
    fn is_given(&self) -> Result<(), Invalid> {
        Ok(())
    }
}

#[llm_node(prompt = "Choose", output = Choice)]
struct Choose {}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose {});
}
