// Cause: the literals of a joined prompt are not separated.
// Mend: write commas between them.
use llmnode::llm_node;

#[llm_node(prompt = concat!("About {topic}\n" "in 10 words."))]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
