// Cause: the date of another crate has neither a schema nor serde's traits, which come with a feature of llmnode.
// Mend: add the feature, here `chrono04`, to llmnode in Cargo.toml.
// Token: NaiveDate
use llmnode::prelude::*;

// As chrono has it without features.
struct NaiveDate(i32);

#[llm_output]
struct Bill {
    number: String,
    due: Option<NaiveDate>,
    paid: Vec<(NaiveDate, f64)>,
}

#[llm_node(prompt = "Read this bill:\n{text:fence}", output = Bill)]
struct Read {
    text: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Read { text: "7: 12.50".into() });
}
