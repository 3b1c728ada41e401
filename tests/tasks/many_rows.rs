use std::path::Path;

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use serde_json::json;

#[llm_output]
enum Topic {
    Billing,
    Repairs,
    Other,
}

#[llm_node(
    prompt = "What is this letter about?\n{letter:fence}",
    output = Topic,
    retries = 1,
    reasoning = "off", // most models think if they are not told, and `max_tokens` counts thoughts
    max_tokens = 50,
    deadline = 60s,
)]
struct Sort<'a> {
    letter: &'a str,
}

/// A limit of money needs prices. The catalog has those of about 300 models.
fn priced(model: impl ChatModel + 'static) -> Run {
    Run::new(model).with_prices(Prices::catalog())
}

/// Sorts the letters for at most two dollars. The journal keeps each answer: the same command goes on after a crash.
async fn sort<'a>(
    run: &Run,
    letters: impl IntoIterator<Item = &'a str>,
    journal: &Path,
) -> Result<Vec<Result<Topic, NodeError>>, Box<dyn std::error::Error>> {
    let nodes: Vec<_> = letters.into_iter().map(|letter| Sort { letter }).collect();
    let topics = run
        .map(&nodes)
        .concurrency(32)
        .limits(Limits::new().money(2.0))
        .resume(JournalFile::open(journal)?)
        .await;
    Ok(topics)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string("letters.txt")?; // a letter a line
    let run = priced(OpenAi::from_env()?);
    for (letter, topic) in text
        .lines()
        .zip(sort(&run, text.lines(), Path::new("letters.journal")).await?)
    {
        match topic {
            Ok(topic) => println!("{}\t{letter}", json!(topic)),
            Err(error) => println!("{}\t{letter}", error.category()),
        }
    }
    eprintln!("{}", run.ledger().total());
    Ok(())
}

#[tokio::test]
async fn a_second_process_asks_only_for_what_is_left() -> Result<(), Box<dyn std::error::Error>> {
    let journal = std::env::temp_dir().join(format!("many-rows-{}.journal", std::process::id()));
    let letters = ["The roof leaks!", "Your bill is wrong."];

    // The first process is stopped by a key that is no longer valid. A provider's schema has to be an object, so an enum
    // alone is asked for as `{"value": ..}`.
    let model = ScriptedModel::new()
        .named("gpt-5.6-luna")
        .otherwise(
            |request| match request.messages[0].content.contains("roof") {
                true => Reply::text(r#"{"value": "Repairs"}"#),
                false => Reply::failure(Category::ApiKeyError),
            },
        );
    let topics = sort(&priced(model.clone()), letters, &journal).await?;
    assert!(topics[0].is_ok() && topics[1].is_err());

    let model = ScriptedModel::new()
        .named("gpt-5.6-luna")
        .reply(r#"{"value": "Billing"}"#);
    let topics = sort(&priced(model.clone()), letters, &journal).await?;
    assert!(topics.iter().all(Result::is_ok));
    assert_eq!(model.requests().len(), 1);
    std::fs::remove_file(journal)?;
    Ok(())
}
