// Cause: expressions of `with` wait, or leave the function.
// Mend: compute the value before, and hold it in a field.
// Errors: 2
use llmnode::llm_node;

#[llm_node(
    prompt = "{page} {number}",
    with(page = fetch(&self.url).await, number = self.url.parse::<u32>()?),
)]
struct Summarize {
    url: String,
}

async fn fetch(url: &str) -> String {
    url.into()
}

fn main() {
    let _ = fetch("");
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { url: "rain".into() });
}
