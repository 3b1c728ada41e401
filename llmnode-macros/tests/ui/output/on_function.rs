use llmnode::llm_output;

#[llm_output]
fn choose() {}

fn main() {
    choose();
}
