// Cause: the list is written as in TypeScript.
// Mend: write `output = Vec<Ticket>`.
// Token: Ticket[]
use llmnode::prelude::*;

#[llm_output]
struct Ticket {
    team: String,
}

#[llm_node(prompt = "Sort: {text}", output = Ticket[])]
struct Sort {
    text: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Sort { text: "The roof leaks.".into() });
}
