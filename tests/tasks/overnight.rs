use std::path::Path;
use std::time::Duration;

use llmnode::BatchApi;
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
)]
struct Sort<'a> {
    letter: &'a str,
}

/// Sorts the letters by a batch, for at most forty dollars. The same command goes on with the same batch after a crash.
async fn sort<'a>(
    run: &Run,
    letters: impl IntoIterator<Item = &'a str>,
    journal: &Path,
    batches: BatchApi,
) -> Result<Vec<Result<Topic, NodeError>>, Box<dyn std::error::Error>> {
    let nodes: Vec<_> = letters.into_iter().map(|letter| Sort { letter }).collect();
    let topics = run
        .map(&nodes)
        .limits(Limits::new().money(40.0))
        .resume(JournalFile::open(journal)?)
        .batch_api(batches)
        .await;
    Ok(topics)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string("letters.txt")?; // a letter a line
    let run = Run::new(OpenAi::from_env()?).with_prices(Prices::catalog());
    let journal = Path::new("letters.journal");
    let batches = BatchApi::new().within(Duration::from_secs(26 * 3600));
    for (letter, topic) in text
        .lines()
        .zip(sort(&run, text.lines(), journal, batches).await?)
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
async fn what_was_sent_is_not_sent_again() -> Result<(), Box<dyn std::error::Error>> {
    use llmnode::StubServer;
    use llmnode::stub_server::StubBatch;

    // Speaks the batch APIs, too. This batch has not ended when it is looked at first.
    let server = StubServer::builder()
        .batches([StubBatch::new().in_progress(1)])
        .start()
        .await?;
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("gpt-5.6-luna")
        .build()?;
    let run = Run::new(model).with_prices(Prices::catalog());
    let journal = std::env::temp_dir().join(format!("overnight-{}.journal", std::process::id()));
    let letters = ["The roof leaks!", "Your bill is wrong."];

    // As cron would: one process sends the batch, and a later one reads what came of it.
    let topics = sort(&run, letters, &journal, BatchApi::once()).await?;
    assert!(topics.iter().all(|topic| {
        let error = topic.as_ref().err();
        error.is_some_and(|error| error.category() == Category::Paused)
    }));
    let topics = sort(&run, letters, &journal, BatchApi::once()).await?;
    assert!(topics.iter().all(Result::is_ok));
    assert_eq!((server.batches_seen(), server.billed_lines().len()), (1, 2));
    std::fs::remove_file(journal)?;
    Ok(())
}
