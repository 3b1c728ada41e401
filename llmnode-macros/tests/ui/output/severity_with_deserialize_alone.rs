// Cause: an enum in the answer has `Deserialize`, and neither `Serialize` nor `JsonSchema`.
// Mend: put `#[llm_output]` on it instead of the derive.
// Token: Severity
// Token: enum Severity
// Token: Deserialize
use llmnode::prelude::*;
use serde::Deserialize;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Low,
    High,
}

#[llm_output]
struct Incident {
    title: String,
    severity: Option<Severity>,
}

#[llm_node(prompt = "Which incident is in this log?\n{log:fence}", output = Incident, retries = 2)]
struct Detect {
    log: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"title": "disk full", "severity": "high"}"#));
    let incident = run.call(&Detect { log: "no space left".into() }).await?;
    if incident.severity == Some(Severity::High) {
        println!("{}", incident.title);
    }
    Ok(())
}
