// Cause: `#[llm_node]` stands twice on a struct.
// Mend: keep one, with the arguments of both.
use llmnode::llm_node;

#[llm_node(prompt = "Choose {item}")]
#[derive(Debug)]
#[llm_node(prompt = "Choose {item}", retries = 2)]
struct Choose {
    item: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose { item: String::new() });
}
