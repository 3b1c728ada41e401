//! The flows of the examples against this server: they take the right path, whatever the model answers.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::support::{key, server_url, tools_url};
use crate::wire::Wire;

/// How often a flow without a text is repeated: it is random whether a text begins at all.
const TIMES: usize = 5;

/// Runs an example to its end; what was on the wire, and what it printed.
async fn flow(name: &'static str, input: &'static str) -> (Wire, String) {
    flow_on(&server_url(), name, input).await
}

async fn flow_on(url: &str, name: &'static str, input: &'static str) -> (Wire, String) {
    for _ in 0..TIMES {
        let wire = Wire::to(url).await;
        let mut command = example(name, &wire);
        let run = move || -> std::io::Result<Output> {
            let mut child = command.spawn()?;
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes())?;
            child.wait_with_output()
        };
        // The wire lives on this runtime, which must not be blocked.
        let output = tokio::task::spawn_blocking(run).await.unwrap().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr);
        println!("{name}:\n{told}{error}");
        if output.status.success() {
            return (wire, told);
        }
        assert!(error.contains("EmptyResponse"), "{told}{error}");
    }
    panic!("{name} got no text {TIMES} times");
}

fn example(name: &str, wire: &Wire) -> Command {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.set_file_name("examples");
    path.push(name);
    assert!(
        path.exists(),
        "{name} is not built: run scripts/real-components, or `cargo build --examples`"
    );
    let mut command = Command::new(path);
    command.env("OPENAI_BASE_URL", wire.base_url());
    command
        .env("OPENAI_API_KEY", key())
        .env("OPENAI_MODEL", "tiny-random");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn the_agent_searches_at_most_three_rounds_and_answers() {
    let (wire, told) = flow_on(&tools_url(), "flow_agent", "").await;
    let gathered = told
        .lines()
        .find_map(|line| line.strip_prefix("requests of gather: "))
        .unwrap();
    let gathered: usize = gathered.parse().unwrap();
    assert!((1..=4).contains(&gathered), "{told}");
    assert_eq!(
        wire.exchanges().len(),
        gathered + 1,
        "and one for the answer"
    );
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn the_judge_ends_after_three_rounds_at_most() {
    let (_, told) = flow("flow_judge", "").await;
    let rounds = told
        .lines()
        .filter(|line| line.starts_with("round "))
        .count();
    assert!((1..=3).contains(&rounds), "{told}");
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn three_are_asked_side_by_side_and_then_one() {
    let (wire, told) = flow("flow_parallel", "").await;
    assert!(
        told.contains("Gather: 3 requests\nBrief: 1 requests"),
        "{told}"
    );
    assert_eq!(wire.exchanges().len(), 4);
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn each_file_is_summed_up_and_all_of_them_together() {
    let (wire, told) = flow("flow_map_reduce", "").await;
    for name in ["east: ", "north: ", "south: "] {
        assert_eq!(
            told.lines().filter(|line| line.starts_with(name)).count(),
            1,
            "{told}"
        );
    }
    assert!(wire.exchanges().len() >= 4);
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn five_vote() {
    let (_, told) = flow("flow_vote", "").await;
    let votes = told
        .lines()
        .filter_map(|line| line.split_once(" of 5: ")?.0.parse::<usize>().ok());
    assert_eq!(votes.sum::<usize>(), 5, "{told}");
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn each_file_is_translated_into_each_language() {
    let (wire, told) = flow("flow_translate", "").await;
    let begins = |line: &&str| line.starts_with("hours, ") || line.starts_with("prices, ");
    let (done, failed) = (
        told.lines().filter(begins).count(),
        told.matches("failed: ").count(),
    );
    assert_eq!((done + failed, wire.exchanges().len()), (6, 6), "{told}");
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn a_conversation_ends_with_the_input() {
    let (wire, told) = flow("flow_chat", "Who are you?\nWhere do you live?\n").await;
    assert!(told.contains("4 messages"), "{told}");
    let messages = wire.exchanges()[1].question["messages"]
        .as_array()
        .map(Vec::len);
    assert_eq!(
        messages,
        Some(4),
        "system, the first question, its answer, the second question"
    );
}
