// Cause: a rule of serde for names is misspelt.
// Mend: write `"snake_case"`.
// Token: "snakecase"
use llmnode::prelude::*;

#[llm_output]
#[derive(Debug)]
#[serde(rename_all = "snakecase")]
enum Mood {
    VeryGood,
    SoSo,
    VeryBad,
}

#[llm_node(prompt = "What is the mood of this text?\n{text:fence}", output = Mood, retries = 2)]
struct FindMood {
    text: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#""so_so""#));
    let mood = run.call(&FindMood { text: "It rains.".into() }).await?;
    println!("{mood:?}");
    Ok(())
}
