//! Where the examples' model comes from, and what they are given on the command line.

use std::error::Error;

use llmnode::stub_server::StubServerBuilder;
use llmnode::{OpenAi, StubServer};

mod arguments;

#[allow(
    unused_imports,
    reason = "`cases` and others of their own have no model"
)]
pub(crate) use arguments::Arguments;

/// The model that the environment names; without `OPENAI_BASE_URL`, one on loopback that this starts, so that
/// no key is needed. The server stops when its handle is dropped.
pub(crate) async fn model(
    stub: StubServerBuilder,
) -> Result<(OpenAi, Option<StubServer>), Box<dyn Error>> {
    if std::env::var_os("OPENAI_BASE_URL").is_some() {
        return Ok((OpenAi::from_env()?, None));
    }
    let server = stub.start().await?;
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("stub")
        .build()?;
    Ok((model, Some(server)))
}
