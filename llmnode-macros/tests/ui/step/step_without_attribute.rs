// Cause: The `impl Step` is written without `#[llmnode::step]`, which makes the traits of a node from it.
// Mend: put `#[llmnode::step]` above `impl Step<Shop> for Count`.
// Token: impl Step<Shop> for Count
// Token: Step<Shop>
// Token: Count
// Token: type Output = usize
// Token: exec
// Errors: 2
// Missed: the action that the attribute would add is a second error.
use llmnode::Cx;
use llmnode::flow::Step;
use llmnode::prelude::*;

struct Shop {
    orders: Vec<String>,
    open: usize,
}

struct Count {
    orders: Vec<String>,
}

impl Step<Shop> for Count {
    type Output = usize;

    async fn prep(shop: &Shop) -> Result<Self, BoxError> {
        Ok(Count { orders: shop.orders.clone() })
    }

    async fn exec(&self, _: &Cx<'_, Shop>) -> Result<usize, BoxError> {
        Ok(self.orders.iter().filter(|order| !order.ends_with("paid")).count())
    }

    fn post(self, open: usize, shop: &mut Shop) -> Result<(), BoxError> {
        shop.open = open;
        Ok(())
    }
}

flow! { CountOrders(Shop): Count => end }

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let mut run = Run::new(ScriptedModel::new()).with_state(Shop { orders: vec!["rope".into()], open: 0 });
    run.flow(CountOrders).await
}
