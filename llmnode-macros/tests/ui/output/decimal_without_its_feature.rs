// Cause: the schema of an amount comes with a feature of llmnode, which is off.
// Mend: add the feature, here `rust_decimal1`, to llmnode in Cargo.toml.
// Token: Decimal
use llmnode::prelude::*;
use serde::{Deserialize, Serialize};

// As `rust_decimal` has it.
#[derive(Serialize, Deserialize)]
struct Decimal(i64);

#[llm_output]
struct Bill {
    number: String,
    discounts: Option<Vec<Decimal>>,
}

#[llm_node(prompt = "Read this bill:\n{text:fence}", output = Bill)]
struct Read {
    text: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Read { text: "7: 12.50".into() });
}
