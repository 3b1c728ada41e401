//! Raw text: a node without `output` gives the model's words as they are.
//!
//! ```text
//! cargo run --example text -- "a lighthouse keeper who is afraid of the sea"
//! ```

use llmnode::prelude::*;
use llmnode::{StubServer, stub_server};

/// Writes the first sentence of a story.
#[llm_node(
    prompt = "Write the first sentence of a story about {subject}, in {words:>1} words at most.",
    max_tokens = 200
)]
struct Opening<'a> {
    subject: &'a str,
    words: u32,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let subject = std::env::args().nth(1).unwrap_or_else(|| "a lighthouse keeper".to_owned());
    let (model, _server) = model().await?;
    let run = Run::new(model);
    let report = run.call(&Opening { subject: &subject, words: 20 }).temperature(0.7).report().await?;
    println!("{}", report.value);
    eprintln!("({} tokens, {:.0?})", report.record.usage().total.known, report.record.elapsed);
    Ok(())
}

/// The model that the environment names, or else one on loopback.
async fn model() -> Result<(OpenAi, Option<StubServer>), Box<dyn std::error::Error>> {
    if std::env::var_os("OPENAI_BASE_URL").is_some() {
        return Ok((OpenAi::from_env()?, None));
    }
    let line = "Every night he lit the lamp with his back to the water.";
    let server = StubServer::builder().default_reply(stub_server::Reply::text(line)).start().await?;
    let model = OpenAi::builder().base_url(server.base_url()).model("stub").build()?;
    Ok((model, Some(server)))
}
