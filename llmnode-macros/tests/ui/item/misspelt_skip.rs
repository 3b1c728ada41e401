// Cause: the word in `#[node(…)]` is misspelt.
// Mend: write `#[node(skip)]`.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic}")]
struct Summarize {
    topic: String,
    #[node(skp)]
    style: String,
}

fn main() {}
