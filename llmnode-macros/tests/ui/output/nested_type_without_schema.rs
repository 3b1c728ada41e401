// Cause: `Severity` is a field of an output and has serde's derives, but no `JsonSchema`.
// Mend: replace the derives of `Severity` by `#[llm_output]`.
// Token: enum Severity
use llmnode::prelude::*;
use serde::{Deserialize, Serialize};

/// The program had this type before it asked a model.
#[derive(Debug, Serialize, Deserialize)]
enum Severity {
    Low,
    High,
}

#[llm_output]
struct Incident {
    /// What happened, in one sentence.
    summary: String,
    severity: Severity,
}

#[llm_node(prompt = "Sum up this log:\n{log:fence}", output = Incident, retries = 2)]
struct SumUp {
    log: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"summary": "The disk is full.", "severity": "High"}"#));
    let incident = run.call(&SumUp { log: "ENOSPC".into() }).await?;
    println!("{:?}: {}", incident.severity, incident.summary);
    Ok(())
}
