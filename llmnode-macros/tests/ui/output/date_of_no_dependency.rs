// Cause: a field is a date of a crate that Cargo.toml does not have.
// Mend: add `chrono` to Cargo.toml, and the feature `chrono04` to llmnode.
// Token: chrono
use llmnode::prelude::*;

#[llm_output]
struct Invoice {
    due: Option<chrono::NaiveDate>,
}

fn main() {}
