// Cause: arguments have the names that they have in other libraries.
// Mend: write what each message names.
// Errors: 8
use llmnode::prelude::*;

#[llm_node(
    prompt = "Write a haiku about {topic}.",
    instructions = "Be brief.",
    response_model = Haiku,
    context = World,
    api_key = "secret",
    max_completion_tokens = 200,
    top_p = 0.9,
    description = "Writes a haiku.",
    memory = 5
)]
struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Haiku { topic: "rain".into() });
}
