// Cause: the values of a `BTreeSet` are numbers with fractions.
// Mend: write a `Vec`.
// Token: f64
use std::collections::BTreeSet;

use llmnode::prelude::*;

#[llm_output]
struct Prices {
    seen: BTreeSet<f64>,
}

fn main() {}
