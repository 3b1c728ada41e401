// Cause: the field is an `Option`, and a prompt cannot say nothing.
// Mend: write `{style:or(none)}`, with the words for an absent value.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic} in a {style} style")]
struct Summarize {
    topic: String,
    style: Option<String>,
}

fn main() {}
