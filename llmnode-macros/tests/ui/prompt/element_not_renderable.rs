use llmnode::llm_node;

#[llm_node(prompt = "{rows:list}")]
struct Summarize {
    rows: Vec<Vec<u8>>,
}

fn main() {}
