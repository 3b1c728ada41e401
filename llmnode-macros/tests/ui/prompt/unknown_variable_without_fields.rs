// Cause: the prompt names a variable, and the node has no fields.
// Mend: add the field.
use llmnode::llm_node;

#[llm_node(prompt = "Tell me about {topic}.")]
struct Tell;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Tell);
}
