// Cause: a field of an answer may borrow, and the node names the answer without its lifetime.
// Mend: own the text: `words: String`, without `<'a>`.
// Token: Cow<'a, str>
// Token: Quote
use std::borrow::Cow;

use llmnode::prelude::*;

#[llm_output]
struct Quote<'a> {
    words: Cow<'a, str>,
    speaker: Option<String>,
}

#[llm_node(prompt = "Find the best quote:\n{article:fence}", output = Quote, retries = 1)]
struct FindQuote {
    article: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"words": "I came.", "speaker": "Caesar"}"#));
    let quote = run.call(&FindQuote { article: "...".into() }).await?;
    println!("{} ({:?})", quote.words, quote.speaker);
    Ok(())
}
