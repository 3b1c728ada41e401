// Cause: the output's validator takes a state, and the node names none.
// Mend: add `state = Menu`.
// Token: Order
// Token: llm_node
// Token: TakeOrder
use llmnode::prelude::*;

struct Menu {
    dishes: Vec<String>,
}

#[llm_output]
struct Order {
    dish: String,
}

#[validate(state)]
impl Order {
    fn on_the_menu(&self, menu: &Menu) -> Result<(), Invalid> {
        if menu.dishes.contains(&self.dish) {
            return Ok(());
        }
        Err(Invalid::at("dish", "is not on the menu").allowed(&menu.dishes))
    }
}

#[llm_node(prompt = "What does the guest want? {wish}", output = Order, retries = 2)]
struct TakeOrder {
    wish: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let menu = Menu { dishes: vec!["soup".into(), "cake".into()] };
    let run = Run::new(ScriptedModel::new().reply(r#"{"dish": "soup"}"#)).with_state(menu);
    let order = run.call(&TakeOrder { wish: "Something warm".into() }).await?;
    println!("{}", order.dish);
    Ok(())
}
