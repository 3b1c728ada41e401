// Cause: `choices` of a tool reads the state, and the tool takes none.
// Mend: Add a parameter for the state.

use llmnode::prelude::*;

/// Finds an item.
#[tool(choices(item = state.inventory))]
fn find(item: String) -> String {
    item
}

fn main() {}
