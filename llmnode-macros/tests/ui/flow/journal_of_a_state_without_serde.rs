// Cause: A flow is to go on from a journal, and its state cannot be written.
// Mend: Derive `serde::Serialize` and `serde::Deserialize` for `World` and what it holds.
// Token: World

use llmnode::journal::JournalFile;
use llmnode::{Run, ScriptedModel, flow, flow::RunExt};

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World): Search => end,
}

async fn research(run: &mut Run<World>) -> Result<(), Box<dyn std::error::Error>> {
    let journal = JournalFile::open("research.journal")?;
    run.flow(Research).resume(journal).await?;
    Ok(())
}

fn main() {
    let _ = (research, ScriptedModel::new());
}
