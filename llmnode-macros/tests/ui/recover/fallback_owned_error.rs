// Cause: The fallback `Price::list_price` takes the `NodeError` by value.
// Mend: take a reference: `fn list_price(&self, error: &NodeError) -> u32`.
// Token: NodeError
// Token: error: NodeError
// Token: fallback = Price::list_price
// Token: Price::list_price
use llmnode::prelude::*;

/// Estimates what a used thing is worth.
#[llm_node(
    prompt = "What is this worth, in whole euros?\n{description:fence}",
    output = u32,
    retries = 1,
    deadline = 10s,
    fallback = Price::list_price,
)]
struct Price {
    description: String,
    #[node(skip)]
    list: u32,
}

impl Price {
    fn list_price(&self, error: NodeError) -> u32 {
        eprintln!("no estimate, the list price is taken: {}", error.category());
        self.list
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply("a lot").reply("very much"));
    let price = run.call(&Price { description: "a bicycle, one owner".into(), list: 300 }).await?;
    assert_eq!(price, 300);
    Ok(())
}
