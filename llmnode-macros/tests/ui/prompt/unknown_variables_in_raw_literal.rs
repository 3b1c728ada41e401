// Cause: several variables of a prompt of many lines are no fields, and each is reported at its line.
// Mend: write names of fields, or add the fields.
// Errors: 3
use llmnode::llm_node;

#[llm_node(prompt = r#"
    "{topik}" and {style}
    {tone:list}, {stile}
"#)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
