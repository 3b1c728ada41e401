//! names: AgentBuilder, preamble, prompt_typed, output, StructuredOutputError, Prompt, PromptError, Provider, Report, ErrorReport, is_retryable, retry_after

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, SystemTime};

use futures::StreamExt;
use futures::stream;
use rig::completion::{PromptError, StructuredOutputError};
use rig::error::ErrorReport;
use rig::{Agent, AgentBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::model;

#[derive(Deserialize, JsonSchema)]
struct Label {
    topic: String,
}

/// By hand: a file of what is done. It has a line for each row.
pub async fn run(url: &str, folder: &str, ask: &str, rows: usize) -> Value {
    let agent = AgentBuilder::new(model(url)).preamble(ask).build();
    let path = format!("{folder}/done.jsonl");
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let kept: HashSet<usize> = kept
        .lines()
        .filter_map(|line| line.split(' ').next()?.parse().ok())
        .collect();
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .unwrap();
    let left: Vec<usize> = (0..rows).filter(|row| !kept.contains(row)).collect();
    let mut done = rows - left.len();
    let mut labels = stream::iter(left)
        .map(|row| sort(&agent, row))
        .buffer_unordered(32);
    let mut failed = None;
    while let Some(label) = labels.next().await {
        match label {
            Ok((row, topic)) => {
                writeln!(file, "{row} {topic}").unwrap();
                done += 1;
            }
            Err(error) => failed = Some(error.to_string()),
        }
    }
    json!({"done": done, "error": failed})
}

/// By hand: retries. Up to ten requests, with the waits that the provider asks for.
async fn sort(agent: &Agent, row: usize) -> Result<(usize, String), StructuredOutputError> {
    let mut tries = 0;
    loop {
        let letter = format!("letter {row:04}");
        let error = match agent.prompt_typed::<Label>(letter).await {
            Ok(answer) => return Ok((row, answer.output.topic)),
            Err(error) => error,
        };
        tries += 1;
        let Some(wait) = wait(&error).filter(|_| tries < 10) else {
            return Err(error);
        };
        tokio::time::sleep(wait).await;
    }
}

/// `None`: asking again would not help.
fn wait(error: &StructuredOutputError) -> Option<Duration> {
    let report = match error {
        StructuredOutputError::Prompt(PromptError::Report(report)) => report.clone(),
        StructuredOutputError::Prompt(PromptError::Provider(error)) => ErrorReport::from(error),
        _ => return None,
    };
    let wait = report.retry_after(SystemTime::now());
    report
        .is_retryable()
        .then(|| wait.unwrap_or(Duration::from_secs(1)))
}
