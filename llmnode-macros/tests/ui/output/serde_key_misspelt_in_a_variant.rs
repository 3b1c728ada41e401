// Cause: a key of serde's attribute is misspelt, in a variant.
// Mend: write `default`.
// Token: defualt
use llmnode::prelude::*;

#[llm_output]
#[serde(tag = "action", rename_all = "snake_case")]
enum Move {
    Go { to: String },
    Wait {
        #[serde(defualt)]
        minutes: u32,
    },
}

#[llm_node(prompt = "You stand at {place}. What next?", output = Move, retries = 2)]
struct NextMove {
    place: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"action": "go", "to": "Oslo"}"#));
    match run.call(&NextMove { place: "Bergen".into() }).await? {
        Move::Go { to } => println!("to {to}"),
        Move::Wait { minutes } => println!("{minutes} minutes"),
    }
    Ok(())
}
