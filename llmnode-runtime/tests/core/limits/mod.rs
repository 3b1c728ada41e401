//! Limits on a call, a node and a run.

#[cfg(feature = "prices")]
mod catalog;
mod leaks;
mod overrun;
mod spending;
mod time;
mod unknown;

use std::time::Duration;

use llmnode_runtime::{
    Category, Completion, FnModel, Limits, NodeError, Price, Prices, Reply, Run, TestClock,
    TokenUsage,
};

const SECOND: Duration = Duration::from_secs(1);

/// An answer of 10 + 1 tokens, by a model of this name.
fn hi(model: Option<&str>) -> Completion {
    let mut answer = Completion::new("hi");
    answer.usage = Some(TokenUsage::new(10, 1));
    answer.model = model.map(str::to_owned);
    answer
}

/// An answer whose provider reports no usage.
fn unreported(text: &str) -> Reply {
    Reply::text(text).usage(None)
}

/// A run on a model that always says "hi", at a thousandth for each token.
fn greeter() -> (FnModel, Run) {
    let model = FnModel::new(|_| hi(Some("m-2025-01-31")));
    let prices = Prices::new().model("m", Price::per_million(1_000.0, 1_000.0));
    (
        model.clone(),
        Run::new(model)
            .with_clock(TestClock::new())
            .with_prices(prices),
    )
}

/// What kept a call from an answer, without its attempts.
fn why(outcome: Result<impl Sized, NodeError>) -> (Category, String) {
    let error = outcome.err().unwrap();
    (error.category(), error.message().to_owned())
}

fn exceeded(message: &str) -> (Category, String) {
    (Category::LimitExceeded, message.to_owned())
}
