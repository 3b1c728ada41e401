//! A limit of money, without a price that anybody typed.

use llmnode_runtime::{DynNode, Request};

use super::*;

const MODELS: [&str; 4] = [
    "gpt-4o-2024-08-06",
    "claude-sonnet-5",
    "gemini-2.5-pro",
    "deepseek-chat",
];

/// Prompts of very different sizes, and answers up to the most tokens.
fn usage(number: usize) -> TokenUsage {
    let [input, output] = [100 + number * 7919 % 6_000, 1 + number * 31 % 500];
    TokenUsage::new(input as u64, output as u64)
}

/// What 200 calls spend, and how many of them were made.
async fn spent(limit: f64, at_once: usize) -> (f64, usize) {
    let model = FnModel::new(|request: &Request| {
        let number = request.messages[0]
            .content
            .trim_end_matches('.')
            .parse()
            .unwrap();
        let mut answer = Completion::new("yes");
        answer.usage = Some(usage(number));
        // Anthropic reports a snapshot.
        let dated = |model: &String| {
            if model.starts_with("claude") {
                format!("{model}-20260301")
            } else {
                model.clone()
            }
        };
        answer.model = request.model.as_ref().map(dated);
        answer
    });
    let run = Run::new(model.clone())
        .with_prices(Prices::catalog())
        .with_limits(Limits::new().money(limit));
    let nodes = MODELS.map(|name| {
        DynNode::builder("say")
            .text()
            .model(name)
            .max_tokens(500)
            .build()
            .unwrap()
    });
    // As many bytes as a prompt of these tokens may have.
    let text = |number: usize| {
        format!(
            "{number}{}",
            ".".repeat(4 * usage(number).input.unwrap() as usize)
        )
    };
    let asks: Vec<_> = (0..200)
        .map(|number| nodes[number % 4].ask(text(number)))
        .collect();
    let _ = run.map(&asks).concurrency(at_once).await;
    (
        run.ledger().total().cost.total().unwrap(),
        model.requests().len(),
    )
}

#[tokio::test]
async fn two_hundred_calls_of_four_models_spend_the_limit_and_no_more_than_a_call_beyond() {
    let prices = Prices::catalog();
    let costs: Vec<f64> = (0..200)
        .map(|number| prices.cost(MODELS[number % 4], &usage(number)).unwrap())
        .collect();
    let (all, dearest) = (
        costs.iter().sum::<f64>(),
        costs.iter().copied().fold(0.0, f64::max),
    );
    for limit in [all / 50.0, all / 3.0, all * 0.9] {
        for at_once in [1, 8] {
            let (spent, made) = spent(limit, at_once).await;
            let range = limit - dearest..=limit + dearest;
            assert!(
                range.contains(&spent),
                "{spent} of {limit}, {at_once} at once: {made} calls, {dearest}"
            );
            assert!(made < 200);
        }
    }
    assert_eq!(spent(all * 2.0, 8).await.1, 200);
}

#[tokio::test]
async fn a_model_that_is_not_listed_is_refused_with_the_day_of_the_list() {
    let run = Run::new(FnModel::new(|_| hi(None)).named("m-9"));
    let run = run
        .with_prices(Prices::catalog())
        .with_limits(Limits::new().money(1.0));
    let (category, message) = why(run
        .call(&DynNode::builder("say").text().build().unwrap().ask("x"))
        .await);
    assert_eq!(category, Category::LimitUnenforceable);
    let made = Prices::catalog().made().unwrap().to_owned();
    let ledger = run.ledger().to_json();
    assert_eq!(ledger["prices_made"], *made);
    let read = llmnode_runtime::LedgerSnapshot::from_json(&ledger.to_string()).unwrap();
    assert_eq!(read.prices_made, Some(made.clone()));
    assert!(
        message.contains(&format!(
            "\"m-9\" has no price in the list of {made}; add it to the table"
        )),
        "{message}"
    );
}
