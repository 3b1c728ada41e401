// Cause: A flow is not awaited.
// Mend: Write `run.flow(Research).await?`.

use llmnode::{NodeError, Run, ScriptedModel, flow, flow::RunExt};

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World): Search => end,
}

async fn research(run: &mut Run<World>) -> Result<(), NodeError> {
    run.flow(Research)?;
    Ok(())
}

fn main() {
    let _ = (research, ScriptedModel::new());
}
