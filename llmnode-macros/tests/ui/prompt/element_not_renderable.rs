// Cause: the list's elements have no `Display`, so they cannot become lines.
// Mend: implement `Display` for them, or write `{rows:json}`.
use llmnode::llm_node;

#[llm_node(prompt = "{rows:list}")]
struct Summarize {
    rows: Vec<Vec<u8>>,
}

fn main() {}
