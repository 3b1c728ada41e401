// Cause: `recover` has a stack for `rate_limit`, which is no category.
// Mend: write `rate_limit_error = [retry(4, 1s..30s), model("big"), fallback]`.
// Token: rate_limit
use llmnode::prelude::*;

#[llm_output]
enum Mood {
    Glad,
    Cross,
    Unknown,
}

#[llm_node(
    prompt = "In which mood was this written?\n{letter:fence}",
    output = Mood,
    recover(
        schema_error = [repair(1), model("big"), fallback],
        rate_limit = [retry(4, 1s..30s), model("big"), fallback],
        final = [bubble],
    ),
    fallback = Feel::unknown,
)]
struct Feel {
    letter: String,
}

impl Feel {
    fn unknown(&self, _: &NodeError) -> Mood {
        Mood::Unknown
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"value": "Glad"}"#)).model("big", ScriptedModel::new());
    let mood = run.call(&Feel { letter: "What a day!".into() }).await?;
    assert!(matches!(mood, Mood::Glad));
    Ok(())
}
