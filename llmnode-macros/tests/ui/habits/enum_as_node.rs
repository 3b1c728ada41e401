// Cause: `#[llm_node]` stands on an enum; only the answer may be one.
// Mend: make the node a struct, and the enum its `output` or one of its fields.
// Token: enum
use llmnode::prelude::*;

#[llm_node(prompt = "Is this letter urgent?")]
enum Urgency {
    High,
    Low,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let levels = [Urgency::High, Urgency::Low];
    let _ = run.call(&levels[0]);
}
