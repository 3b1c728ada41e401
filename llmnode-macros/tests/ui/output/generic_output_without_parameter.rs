// Cause: `Page` is generic, and the attribute names it as output without its parameter.
// Mend: write `output = Page<Line>`.
// Token: output = Page
// Token: Page
use llmnode::prelude::*;

#[llm_output]
struct Page<T> {
    items: Vec<T>,
    /// Whether the document goes on.
    more: bool,
}

#[llm_output]
struct Line {
    description: String,
    /// The price in cents.
    cents: i64,
}

/// Reads the lines of one page of an invoice.
#[llm_node(prompt = "Read the lines of this page:\n{text:fence}", output = Page, retries = 1)]
struct ReadPage {
    text: String,
}

async fn total(run: &Run, text: String) -> Result<i64, NodeError> {
    let page = run.call(&ReadPage { text }).retries(2).await?;
    if page.more {
        println!("after {:?} there is more", page.items.last().map(|line| &line.description));
    }
    Ok(page.items.iter().map(|line| line.cents).sum())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let answer = r#"{"items": [{"description": "rope", "cents": 990}], "more": false}"#;
    assert_eq!(total(&Run::new(ScriptedModel::new().reply(answer)), "1 rope 9.90".into()).await?, 990);
    Ok(())
}
