// Cause: a method of a `#[validate]` block is a helper of the validators.
// Mend: move it to another `impl` block.
// Token: normalised
// Token: String
use llmnode::prelude::*;

#[llm_output]
struct Tag {
    name: String,
}

#[validate]
impl Tag {
    fn normalised(&self) -> String {
        self.name.trim().to_lowercase()
    }

    fn not_empty(&self) -> Result<(), Invalid> {
        if self.normalised().is_empty() {
            return Err(Invalid::at("name", "must not be empty"));
        }
        Ok(())
    }
}

#[llm_node(prompt = "Give one tag for this text:\n{text:fence}", output = Tag, retries = 1)]
struct GiveTag {
    text: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"name": "Rust"}"#));
    let tag = run.call(&GiveTag { text: "cargo build".into() }).await?;
    println!("{}", tag.normalised());
    Ok(())
}
