// Cause: the provider comes with a feature of llmnode that is off.
// Mend: write `llmnode = { .., features = ["anthropic"] }` in Cargo.toml, or `"gemini"`; `OpenAi` comes with `"openai"`, a default feature.
// Token: Anthropic
use llmnode::prelude::*;

fn main() -> Result<(), NodeError> {
    let run = Run::new(Anthropic::from_env()?);
    let _ = run.ledger();
    Ok(())
}
