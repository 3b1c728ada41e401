// Cause: `#[llm_output]` stands below the derives, and would derive the same again.
// Mend: move `#[llm_output]` above them, or drop the derives.
// Token: Serialize, Deserialize
// Token: llm_output
// Errors: 2
// Missed: rustc reports each trait that is derived twice; no macro sees the derives above it.
use llmnode::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[llm_output]
struct Person {
    /// The full name.
    name: String,
    age: Option<u8>,
}

#[llm_node(prompt = "Who is this text about?\n{text:fence}", output = Person, retries = 2)]
struct FindPerson {
    text: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"name": "Ada Lovelace", "age": 36}"#));
    let person = run.call(&FindPerson { text: "Ada wrote a program.".into() }).await?;
    println!("{person:?}");
    Ok(())
}
