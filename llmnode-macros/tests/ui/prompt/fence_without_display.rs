// Cause: the fence filter is given a list.
// Mend: hold the text in the field, or write the list by its own filter.
use llmnode::llm_node;

#[llm_node(prompt = "Sum up:\n{pages:fence}")]
struct Summarize {
    pages: Vec<String>,
}

fn main() {
    let node = Summarize { pages: vec!["rain".into()] };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
