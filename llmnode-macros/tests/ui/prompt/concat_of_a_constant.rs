// Cause: a joined prompt has a part that is no string literal.
// Mend: write the text of the part as a literal, or hold it in a field.
use llmnode::llm_node;

const STYLE: &str = "calm";

#[llm_node(prompt = concat!("About {topic}, ", STYLE, ".\n"))]
struct Summarize {
    topic: String,
}

fn main() {
    let _ = STYLE;
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
