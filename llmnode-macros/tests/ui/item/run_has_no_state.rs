// Cause: the node names a state, and the run has none.
// Mend: write `Run::new(model).with_state(shop)`.
// Token: call
// Token: &node
// Token: Run::new
use llmnode::prelude::*;

struct Shop {
    products: Vec<String>,
}

#[llm_output]
struct Offer {
    product: String,
    discount: u8,
}

#[llm_node(
    prompt = "Our products:\n{state.products:list}\nMake an offer to {customer}.",
    output = Offer,
    state = Shop,
)]
struct MakeOffer {
    customer: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let shop = Shop { products: vec!["tea".into(), "milk".into()] };
    println!("{} products", shop.products.len());
    let run = Run::new(ScriptedModel::new().reply(r#"{"product": "tea", "discount": 10}"#));
    let node = MakeOffer { customer: "Ada".into() };
    let offer = run.call(&node).await?;
    println!("{} {}%", offer.product, offer.discount);
    Ok(())
}
