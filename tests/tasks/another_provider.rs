use llmnode::{Anthropic, prelude::*};

#[llm_output]
#[derive(Debug, PartialEq)]
enum Team {
    Billing,
    Repairs,
}

#[llm_node(
    prompt = "Which team reads this letter?\n{letter:fence}",
    output = Team,
    retries = 1,
    fallback_model = "spare", // asked when the first provider fails
)]
struct Sort<'a> {
    letter: &'a str,
}

/// Two providers, and a server on this machine.
fn run() -> Result<Run, NodeError> {
    let local = OpenAi::llama_cpp().model("any").build()?; // http://localhost:8080/v1
    let run = Run::new(Anthropic::from_env()?) // reads ANTHROPIC_API_KEY, ANTHROPIC_MODEL
        .model("spare", OpenAi::from_env()?) // reads OPENAI_API_KEY, OPENAI_MODEL
        .model("local", local);
    Ok(run)
}

/// The team, and the model that named it, as its provider calls it.
async fn sort(run: &Run, letter: &str) -> Result<(Team, Option<String>), NodeError> {
    let report = run.call(&Sort { letter }).report().await?;
    let answered = report.record.attempts.last();
    let model = answered.and_then(|attempt| attempt.model.clone());
    Ok((report.value, model))
}

#[tokio::main]
async fn main() -> Result<(), NodeError> {
    let run = run()?;
    let (team, model) = sort(&run, "The roof leaks!").await?;
    println!("{team:?}, says {}", model.unwrap_or_default());

    // This letter does not leave the machine.
    let private = Sort {
        letter: "My bank details have changed.",
    };
    println!("{:?}", run.call(&private).model("local").await?);
    Ok(())
}

#[tokio::test]
async fn the_spare_provider_is_asked_when_the_first_has_no_credit() -> Result<(), NodeError> {
    let first = ScriptedModel::new().reply(Reply::failure(Category::QuotaError));
    let spare = ScriptedModel::new().reply(r#"{"value": "Repairs"}"#);
    let run = Run::new(first.clone()).model("spare", spare);
    let (team, model) = sort(&run, "The roof leaks!").await?;
    assert_eq!(team, Team::Repairs);
    assert_eq!(model.as_deref(), Some("spare"));
    assert_eq!(first.requests().len(), 1); // waiting would not have helped
    Ok(())
}
