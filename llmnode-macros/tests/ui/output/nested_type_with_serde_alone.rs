// Cause: a type inside of the output has the derives of serde, and no schema.
// Mend: put `#[llm_output]` on it, above or in place of the derives.
// Token: Address
use llmnode::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Address {
    street: String,
}

#[llm_output]
struct Person {
    addresses: Vec<Address>,
}

#[llm_node(prompt = "Who wrote this?\n{letter:fence}", output = Person)]
struct Find {
    letter: String,
}

fn main() {}
