use llmnode::llm_node;

#[llm_node(prompt = "About {topic}")]
struct Summarize {
    topic: String,
    state: String,
}

fn main() {}
