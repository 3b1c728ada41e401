// Cause: the validator turns a text into its error.
// Mend: write `Err(Invalid::new("…"))`.
use llmnode::prelude::*;

#[llm_output]
struct Bill {
    total: f64,
}

#[validate]
impl Bill {
    fn is_positive(&self) -> Result<(), Invalid> {
        if self.total > 0.0 { Ok(()) } else { Err("must be positive".into()) }
    }
}

#[llm_node(prompt = "Read {text}", output = Bill)]
struct Read {
    text: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Read { text: String::new() });
}
