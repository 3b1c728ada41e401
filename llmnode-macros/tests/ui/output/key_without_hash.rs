// Cause: the keys of a `HashMap` are an enum that cannot be hashed.
// Mend: put `#[derive(PartialEq, Eq, Hash)]` on the enum.
// Token: Team
use std::collections::HashMap;

use llmnode::prelude::*;

#[llm_output]
enum Team {
    Billing,
    Repairs,
}

#[llm_output]
struct Counts {
    letters: HashMap<Team, u32>,
}

#[llm_node(prompt = "Count the letters:\n{letters:list}", output = Counts)]
struct Count {
    letters: Vec<String>,
}

fn main() {}
