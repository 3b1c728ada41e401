// Cause: the validator's error is a boxed one, which is made of a text.
// Mend: return `Result<(), Invalid>`, and `Err(Invalid::new("is empty"))`.
// Token: Box<dyn std::error::Error>
use llmnode::prelude::*;

#[llm_output]
struct Ticket {
    team: String,
}

#[validate]
impl Ticket {
    fn team_is_given(&self) -> Result<(), Box<dyn std::error::Error>> {
        if self.team.is_empty() {
            return Err("is empty".into());
        }
        Ok(())
    }
}

#[llm_node(prompt = "Sort: {text}", output = Ticket, retries = 1)]
struct Sort {
    text: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Sort { text: "The roof leaks.".into() });
}
