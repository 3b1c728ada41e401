// Cause: the variable stands in double braces, as other template languages write it.
// Mend: write single braces, `{text}`.
// Token: {{text}}
// Token: text: String
use llmnode::prelude::*;

#[llm_output]
struct Translation {
    text: String,
}

#[llm_node(
    system = "You are a translator.",
    prompt = "Translate into {language}: {{text}}",
    output = Translation,
)]
struct Translate {
    language: String,
    text: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"text": "Hei!"}"#));
    let node = Translate { language: "Norwegian".into(), text: "Hello!".into() };
    println!("{}", run.call(&node).await?.text);
    Ok(())
}
