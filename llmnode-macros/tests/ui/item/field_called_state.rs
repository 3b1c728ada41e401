// Cause: a field has the name `state`, so that `{state.x}` could mean the field or the program's state.
// Mend: rename the field.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic}")]
struct Summarize {
    topic: String,
    state: String,
}

fn main() {}
