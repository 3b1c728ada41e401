use llmnode::llm_node;

#[llm_node(prompt = "About {topic} in a {style} style")]
struct Summarize {
    topic: String,
    style: Option<String>,
}

fn main() {}
