// Cause: the model may not be there, and its `Result` is given to the run.
// Mend: write `OpenAi::from_env()?`.
// Token: from_env()
use llmnode::{ModelError, Run, ScriptedModel};

fn from_env() -> Result<ScriptedModel, ModelError> {
    Ok(ScriptedModel::new())
}

fn main() {
    let _ = Run::new(from_env());
}
