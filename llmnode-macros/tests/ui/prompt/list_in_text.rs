// Cause: the prompt inserts a list as if it were a text.
// Mend: write one of the filters that the message names.
// Errors: 5
use std::collections::{BTreeSet, HashMap};

use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(
    prompt = "{goal}: {items}, {pairs}, {kinds:>8}, {table}, {rows}",
    output = Choice,
    state = World,
)]
struct ChooseItem {
    goal: String,
    items: Vec<String>,
    pairs: [u8; 2],
    kinds: BTreeSet<u8>,
    table: HashMap<String, u8>,
    rows: Vec<Vec<u8>>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let answer = run.call(&ChooseItem { goal: "a".into(), items: vec![], pairs: [1, 2], kinds: BTreeSet::new(), table: HashMap::new(), rows: vec![] }).await?;
    println!("{}", answer.item);
    Ok(())
}
