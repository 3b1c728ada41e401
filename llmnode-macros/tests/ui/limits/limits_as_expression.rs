// Cause: `limits` of the attribute is given a `Limits` value after `=`, as on a call, but takes its amounts in parentheses.
// Mend: write `limits(requests = 5, money = 0.05)` in the attribute.
// Token: limits = Limits::new().requests(5).money(0.05)
// Token: limits
// Token: = Limits::new().requests(5).money(0.05)
// Token: Limits::new().requests(5).money(0.05)
use llmnode::{Limits, Price, Prices, prelude::*};

/// Translates a line of a menu.
#[llm_node(
    prompt = "Translate into {language}:\n{line:fence}",
    model = "small",
    limits = Limits::new().requests(5).money(0.05),
    max_tokens = 100,
)]
struct Translate {
    language: &'static str,
    line: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let model = ScriptedModel::new().reply("Erbsensuppe");
    let run = Run::new(model.clone())
        .with_prices(Prices::new().model("small", Price::per_million(2.0, 8.0)))
        .with_limits(Limits::new().requests(100));
    let line = run.call(&Translate { language: "German", line: "pea soup".into() }).await?;
    assert_eq!(line, "Erbsensuppe");
    model.assert_done();
    Ok(())
}
