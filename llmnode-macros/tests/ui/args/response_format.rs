// Cause: how the type is asked for depends on the endpoint, which a node does not know.
// Mend: set the response format on the call, the run's settings or the model's client.
use llmnode::{llm_node, llm_output};

#[llm_output]
struct Rating {
    stars: u8,
}

#[llm_node(prompt = "{topic}", output = Rating, response_format = "strict")]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
