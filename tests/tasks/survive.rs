use std::path::Path;

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use serde::{Deserialize, Serialize};

/// What the steps work on. The journal keeps it after each step.
#[derive(Default, Serialize, Deserialize)]
struct Complaint {
    letter: String,
    summary: Option<String>,
    reply: Option<String>,
}

#[llm_node(
    prompt = "Sum up this letter in one sentence.\n{letter:fence}",
    state = Complaint,
    store = summary,
)]
struct SumUp {
    #[prep(state.letter.clone())]
    letter: String,
}

#[llm_node(
    prompt = "Write a short reply to this complaint:\n{summary:fence}",
    state = Complaint,
    store = reply,
)]
struct Answer {
    #[prep(state.summary.clone())]
    summary: String,
}

flow! { Handle(Complaint): SumUp => Answer, Answer => end }

/// Begins the flow, or goes on with the one that the journal has.
async fn handle(
    run: &mut Run<Complaint>,
    journal: &Path,
) -> Result<(), Box<dyn std::error::Error>> {
    run.flow(Handle).resume(JournalFile::open(journal)?).await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let complaint = Complaint {
        letter: std::fs::read_to_string("letter-17.txt")?,
        ..Complaint::default()
    };
    let mut run = Run::new(OpenAi::from_env()?).with_state(complaint);
    handle(&mut run, Path::new("letter-17.journal")).await?; // a journal for each letter
    println!("{}", run.state().reply.as_deref().unwrap_or_default());
    eprintln!("{}", run.ledger().total()); // of all processes
    Ok(())
}

#[tokio::test]
async fn the_second_process_goes_on_after_the_first_step() -> Result<(), Box<dyn std::error::Error>>
{
    let journal = std::env::temp_dir().join(format!("survive-{}.journal", std::process::id()));
    let complaint = || Complaint {
        letter: "My lamp arrived in pieces, and nobody answers the phone!".into(),
        ..Complaint::default()
    };

    // The first process completes one step. In the second step, its key is no longer valid.
    let model = ScriptedModel::new()
        .reply("The lamp arrived broken.")
        .reply(Reply::failure(Category::ApiKeyError));
    let mut run = Run::new(model).with_state(complaint());
    assert!(handle(&mut run, &journal).await.is_err());

    let model = ScriptedModel::new().reply("We are sorry. A new lamp is on its way.");
    let mut run = Run::new(model.clone()).with_state(complaint());
    handle(&mut run, &journal).await?;
    assert_eq!(
        run.state().summary.as_deref(),
        Some("The lamp arrived broken.")
    );
    assert!(run.state().reply.is_some());
    assert_eq!(model.requests().len(), 1); // the summary is not asked for again
    std::fs::remove_file(journal)?;
    Ok(())
}
