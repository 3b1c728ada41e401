use llmnode::prelude::*;
use serde_json::json;

/// An invoice.
#[llm_output]
#[derive(Debug, PartialEq)]
struct Invoice {
    /// As printed, with letters and zeros.
    number: String,
    lines: Vec<Line>,
    currency: Currency,
    /// Not every invoice has one.
    due_in_days: Option<u16>,
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Line {
    what: String,
    #[schemars(range(min = 0.0))]
    price: f64,
}

#[llm_output]
#[derive(Debug, PartialEq)]
enum Currency {
    Euro,
    Dollar,
}

async fn read(run: &Run, text: &str) -> Result<Invoice, NodeError> {
    run.extract(text).retries(2).await
}

#[tokio::main]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(OpenAi::from_env()?); // reads OPENAI_API_KEY, OPENAI_MODEL, OPENAI_BASE_URL
    let invoice = read(
        &run,
        "Invoice 007: two chairs at 60 euros each, to be paid within 14 days.",
    )
    .await?;
    println!("{invoice:?}, {}", run.ledger().total());
    Ok(())
}

#[tokio::test]
async fn a_negative_price_is_corrected() -> Result<(), NodeError> {
    let answer = |price| json!({"number": "007", "lines": [{"what": "chair", "price": price}], "currency": "Euro"});
    let run = Run::new(
        ScriptedModel::new()
            .reply(answer(-60.0))
            .reply(answer(60.0)),
    );
    let invoice = read(&run, "Invoice 007: a chair, 60 euros.").await?;
    assert_eq!((invoice.lines[0].price, invoice.due_in_days), (60.0, None));
    assert_eq!(run.ledger().total().requests, 2);
    Ok(())
}
