// Cause: a step without a model is written in one `impl`, and `#[llmnode::step]` is missing above it.
// Mend: put `#[llmnode::step]` above the `impl`.
// Token: Step<Basket>
// Token: impl Step<Basket>
// Token: Price
// Token: exec
use llmnode::Cx;
use llmnode::flow::Step;
use llmnode::prelude::*;

#[derive(Default)]
struct Basket {
    cents: Vec<u32>,
    total: u32,
}

struct Price(Vec<u32>);

impl Step<Basket> for Price {
    type Output = u32;
    type Action = ();

    async fn prep(state: &Basket) -> Result<Self, BoxError> {
        Ok(Price(state.cents.clone()))
    }

    async fn exec(&self, _: &Cx<'_, Basket>) -> Result<u32, BoxError> {
        Ok(self.0.iter().sum())
    }

    fn post(self, total: u32, state: &mut Basket) -> Result<(), BoxError> {
        state.total = total;
        Ok(())
    }
}

flow! {
    Checkout(Basket): Price => end,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let basket = Basket { cents: vec![250, 399], total: 0 };
    let mut run = Run::new(ScriptedModel::new()).with_state(basket);
    run.flow(Checkout).await?;
    println!("{}", run.state().total);
    Ok(())
}
