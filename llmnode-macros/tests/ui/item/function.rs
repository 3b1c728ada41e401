use llmnode::llm_node;

#[llm_node(prompt = "Choose")]
fn choose() {}

fn main() {
    choose();
}
