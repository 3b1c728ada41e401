//! From labelled cases to a better prompt: evaluate, let a bigger model teach, compare on cases that nobody has seen.
//!
//! ```text
//! cargo run --example optimise --features smart              # examples for the prompt, from a teacher
//! cargo run --example optimise --features smart -- reflect   # a better goal, from what was wrong
//! ```
//!
//! Without a key a scripted server answers. With `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL` it is your model, and
//! `OPENAI_TEACHER` names the one that teaches; it makes about 140 requests.

use std::io::Write;
use std::time::Duration;

use llmnode::StubServer;
use llmnode::evals::{Dataset, evaluate};
use llmnode::prelude::*;
use llmnode::smart::Program;
use llmnode::smart::optimise::{Bootstrap, OptimiseProgress, Reflect};
use llmnode::stub_server::{LoggedRequest, StubReply, StubServerBuilder};

mod common;

#[llm_output]
#[derive(Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Queue {
    Harbour,
    Bridge,
    Ledger,
    Crew,
}

#[llm_output]
#[derive(Clone)]
struct Sorted {
    queue: Queue,
}

/// Sorts a ticket of a ferry company. Who sits where is the company's own.
#[llm_node(goal = "Which queue does the ticket belong to?", think, output = Sorted, retries = 1, max_tokens = 200)]
struct Sort {
    /// what the customer wrote
    ticket: String,
}

/// Right or wrong, and what the desk would say.
fn metric(_: &Sort, expected: &Sorted, output: &Sorted) -> (bool, String) {
    let right = expected.queue == output.queue;
    let feedback = match expected.queue {
        Queue::Harbour => "whatever concerns a ferry goes to the harbour",
        Queue::Bridge => "whatever concerns a school goes to the bridge",
        Queue::Ledger => "whatever concerns an invoice goes to the ledger",
        Queue::Crew => "whatever concerns the app goes to the crew",
    };
    (
        right,
        if right {
            String::new()
        } else {
            feedback.to_owned()
        },
    )
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = common::Arguments::read("[reflect]");
    let (model, server) = common::model(stub()).await?;
    let teacher = std::env::var("OPENAI_TEACHER")
        .ok()
        .or(server.is_some().then(|| "teacher".to_owned()));
    let run = Run::new(model).with_limits(Limits::new().time(Duration::from_secs(600)));

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/desk.jsonl");
    let (seen, test) = Dataset::<Sort, Sorted>::open(path)?.split(0.6, 1);
    let (train, validation) = seen.split(0.6, 2);

    println!(
        "Evaluating {} cases, then up to 100 requests to find a better program …\n",
        test.len()
    );
    let before = evaluate(&run, &test, metric).await?;
    println!("Before:\n{before}\n");

    let (start, limits) = (Program::new(), Limits::new().requests(100));
    let optimised = if arguments.value(0).is_some() {
        let reflect = Reflect::new().limits(limits);
        let reflect = match teacher {
            Some(teacher) => reflect.model(teacher),
            None => reflect,
        };
        reflect
            .optimise(&run, &start, &train, &validation, metric)
            .on_progress(bar)
            .await?
    } else {
        let bootstrap = Bootstrap::new().limits(limits);
        let bootstrap = match teacher {
            Some(teacher) => bootstrap.teacher(teacher),
            None => bootstrap,
        };
        bootstrap
            .optimise(&run, &start, &train, &validation, metric)
            .on_progress(bar)
            .await?
    };
    println!("\n{}\n", optimised.report());

    let file = std::env::temp_dir().join("llmnode-sort.json");
    if !optimised.save(&file)? {
        println!("Nothing beats the start, so nothing was written.");
        return Ok(());
    }
    let program = Program::<Sort>::open(&file)?;
    println!(
        "Written to {}: {:?}, {} examples\n",
        file.display(),
        program.goal(),
        program.demos().len()
    );

    // The validation cases have chosen the program. What it is worth is seen on others.
    let run = run.with_program(program);
    let after = evaluate(&run, &test, metric).await?;
    println!("After:\n{after}\n\n{}", after.compare(&before)?.summary());
    Ok(())
}

/// A bar on one line of the terminal.
fn bar(so_far: &OptimiseProgress) {
    let share = so_far.requests as f64 / so_far.limit as f64;
    let full = (share * 40.0) as usize;
    let best = so_far
        .best
        .map_or("?".to_owned(), |best| format!("{best:.3}"));
    print!(
        "\r[{:<40}] {} of {} requests, best {best}",
        "#".repeat(full.min(40)),
        so_far.requests,
        so_far.limit
    );
    // Without a terminal there is nothing to show.
    let _ = std::io::stdout().flush();
}

/// A server whose small model knows a queue only where the prompt says it, and whose teacher knows them all.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let asked = messages.last().map_or("", |(_, content)| content);
        let shown: String = messages
            .iter()
            .rev()
            .skip(1)
            .map(|(_, content)| content.as_str())
            .collect();
        if shown.starts_with("You improve the instruction") {
            return StubReply::json(serde_json::json!({"instruction": instruction(asked)}));
        }
        let known = |word: &str, queue: &str| {
            shown.contains(&format!("concerns {word}"))
                || shown.contains(&format!("to the {queue}"))
        };
        let (_, word, queue) = QUEUES
            .iter()
            .find(|(key, ..)| asked.to_lowercase().contains(key))
            .unwrap_or(&QUEUES[0]);
        let queue = if teaches(request) || known(word, queue) {
            queue
        } else {
            "harbour"
        };
        StubReply::json(
            serde_json::json!({"reasoning": format!("It concerns {word}."), "queue": queue}),
        )
    }))
}

const QUEUES: [(&str, &str, &str); 4] = [
    ("ferry", "a ferry", "harbour"),
    ("school", "a school", "bridge"),
    ("invoice", "an invoice", "ledger"),
    ("app", "the app", "crew"),
];

fn teaches(request: &LoggedRequest) -> bool {
    request
        .json()
        .is_some_and(|body| body["model"] == "teacher")
}

/// The rules that stand in the old instruction or in the feedback.
fn instruction(asked: &str) -> String {
    let rules = QUEUES
        .iter()
        .map(|(_, word, queue)| format!("whatever concerns {word} goes to the {queue}"));
    let rules: Vec<_> = rules.filter(|rule| asked.contains(rule)).collect();
    format!(
        "Which queue does the ticket belong to? Know that {}.",
        rules.join(", ")
    )
}
