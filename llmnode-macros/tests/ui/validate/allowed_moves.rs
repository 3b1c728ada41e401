// Cause: `.allowed` is given the values of the state, which is only lent.
// Mend: write `.allowed(&shop.names)`.
// Token: shop.names
use std::collections::BTreeSet;

use llmnode::prelude::*;

struct Shop {
    names: BTreeSet<String>,
}

#[llm_output]
struct Pick {
    name: String,
}

#[validate(state)]
impl Pick {
    fn is_sold(&self, shop: &Shop) -> Result<(), Invalid> {
        if shop.names.contains(&self.name) {
            return Ok(());
        }
        Err(Invalid::at("name", "is not sold here").allowed(shop.names))
    }
}

#[llm_node(prompt = "What fits {wish}?\n{state.names:list}", output = Pick, state = Shop, retries = 2)]
struct Recommend {
    wish: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let shop = Shop { names: BTreeSet::from(["tea".into()]) };
    let run = Run::new(ScriptedModel::new().reply(r#"{"name": "tea"}"#)).with_state(shop);
    println!("{}", run.call(&Recommend { wish: "winter".into() }).await?.name);
    Ok(())
}
