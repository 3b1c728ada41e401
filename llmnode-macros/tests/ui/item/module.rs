// Cause: `#[llm_node]` stands on a module.
// Mend: put it on the struct whose fields the prompt uses.
use llmnode::llm_node;

#[llm_node(prompt = "Choose")]
mod choose {
    pub fn choose() {}
}

fn main() {
    choose::choose();
}
