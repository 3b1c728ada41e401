// Cause: `#[llm_output]` stands twice on a type.
// Mend: keep one.
use llmnode::{Invalid, llm_node, llm_output, validate};

struct World;

#[llm_output]
#[derive(Debug)]
#[llm_output(state = World)]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn is_known(&self, _: &World) -> Result<(), Invalid> {
        Ok(())
    }
}

#[llm_node(prompt = "Choose", output = Choice, state = World)]
struct Choose {}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Choose {});
}
