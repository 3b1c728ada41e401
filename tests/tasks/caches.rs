use llmnode::prelude::*;
use llmnode::{CacheLost, CallReport};

/// The rules come first, and what differs comes last: so all calls begin alike.
#[llm_node(
    system = "{state.rules}",
    prompt = "Which desk does this letter go to?\n{letter:fence}",
    state = Office,
)]
struct Sort<'a> {
    letter: &'a str,
}

#[llm_node(system = "{state.rules}", prompt = "{question}", state = Office, cache = 1h)]
struct Ask<'a> {
    #[node(history)]
    earlier: &'a [Message],
    question: &'a str,
}

struct Office {
    rules: String, // a few thousand tokens
}

/// A map of 80 letters or more: the first goes alone and pays for the rules. The others find them in the cache.
async fn sort(run: &Run<Office>, letters: &[&str]) -> Result<Vec<String>, NodeError> {
    let nodes = letters.iter().map(|letter| Sort { letter });
    run.map(nodes).try_all().await
}

/// A chat: each turn finds all turns before it in the cache. If it does not, `cache_lost` says why.
async fn ask(
    run: &Run<Office>,
    earlier: &[Message],
    question: &str,
) -> Result<CallReport<String>, NodeError> {
    let report = run.call(&Ask { earlier, question }).report().await?;
    match report.record.cache_lost() {
        CacheLost::Unknown | CacheLost::Kept => {}
        lost => eprintln!("a part of the chat was paid for again: {lost}"),
    }
    Ok(report)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rules = std::fs::read_to_string("rules.txt")?;
    let run = Run::new(OpenAi::from_env()?).with_state(Office { rules });
    let letters = std::fs::read_to_string("letters.txt")?;
    let letters: Vec<&str> = letters.lines().collect();
    sort(&run, &letters).await?;

    let first = ask(&run, &[], "Which desk has the most letters?").await?;
    ask(&run, &first.history()?, "And why?").await?;
    if let Some(share) = run.ledger().total().cached_share() {
        println!("{:.0} % of the prompts came from the cache", 100.0 * share);
    }
    Ok(())
}

#[tokio::test]
async fn the_rules_are_paid_for_once() -> Result<(), Box<dyn std::error::Error>> {
    use llmnode::StubServer;
    use llmnode::stub_server::{CacheRules, StubReply};

    // It bills as OpenAI does, and stands in for its host.
    let server = StubServer::builder()
        .billing(CacheRules::openai())
        .default_reply(StubReply::text("Desk 4."))
        .start()
        .await?;
    let model = OpenAi::builder()
        .base_url("http://api.openai.com/v1")
        .api_key("k")
        .model("gpt-6-luna")
        .proxy(format!("http://{}", server.address()))
        .allow_plain_http()
        .build()?;
    let rules = "Letters about roofs go to desk 4.\n".repeat(400);
    let run = Run::new(model).with_state(Office { rules });

    sort(&run, &["The roof leaks!"; 100]).await?;
    let share = run.ledger().total().cached_share().unwrap();
    assert!(share > 0.95, "{share}");

    let first = ask(&run, &[], "Which desk has the most letters?").await?;
    let second = ask(&run, &first.history()?, "And why?").await?;
    assert_eq!(second.record.cache_lost(), CacheLost::Kept);
    Ok(())
}
