//! How often a real model answers as asked, and right: `models FORMAT [EVERY] [KIND]`.
//!
//! FORMAT is a response format of llmnode (`strict`, `schema`, `json_object`, `prompt`, `tool`) or `agents`, for the ten
//! questions, `listed`, `unlisted` or `narrowed` for choices with `choices(..)`, without, and with `.only()`. EVERY 3 takes each third task. The model is the one of `OPENAI_BASE_URL`; run by `benches/models/run`.
//! With SHOW set, each answer is printed.

mod agents;
mod types;

use std::time::{Duration, Instant};

use llmnode::prelude::*;
use llmnode::{Call, OpenAi, ResponseFormat};
use serde_json::Value;
use types::{
    ChooseItem, ChooseListed, ChooseNarrowed, Classify, ReadBooking, ReadMeeting, ReadOrder, World,
};

const TASKS: &str = include_str!("../tasks.json");
const MAX_TOKENS: u32 = 200;
const RETRIES: u32 = 2;

#[derive(Default)]
struct Row {
    tasks: u32,
    valid: u32,
    right: u32,
    first: u32,
    requests: u64,
    prompt: u64,
    completion: u64,
    time: Duration,
    kinds: Vec<(String, u32, u32, u32)>,
}

impl Row {
    fn add(&mut self, kind: &str, valid: bool, right: bool) {
        self.tasks += 1;
        self.valid += u32::from(valid);
        self.right += u32::from(right);
        if self.kinds.last().is_none_or(|(last, ..)| last != kind) {
            self.kinds.push((kind.to_owned(), 0, 0, 0));
        }
        if let Some((_, tasks, valid_of_kind, right_of_kind)) = self.kinds.last_mut() {
            *tasks += 1;
            *valid_of_kind += u32::from(valid);
            *right_of_kind += u32::from(right);
        }
    }

    fn print(&self, name: &str) {
        let Row {
            tasks,
            valid,
            right,
            first,
            requests,
            prompt,
            completion,
            time,
            kinds,
        } = self;
        let kinds: Vec<String> = kinds
            .iter()
            .map(|(kind, tasks, valid, right)| format!("{kind} {valid}/{right} of {tasks}"))
            .collect();
        println!(
            "| {name} | {tasks} | {valid} | {right} | {first} | {requests} | {prompt} | {completion} | {:.0} | {} |",
            time.as_secs_f64(),
            kinds.join(", ")
        );
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let format = args.next().unwrap_or("strict".into());
    let every: usize = args.next().map_or(Ok(1), |every| every.parse())?;
    let only = args.next();
    if format == "agents" {
        return agents::run().await;
    }
    if ["listed", "unlisted", "narrowed"].contains(&format.as_str()) {
        return listed(&format).await;
    }
    let asked: ResponseFormat = serde_json::from_value(Value::String(format.clone()))?;
    let all: serde_json::Map<String, Value> = serde_json::from_str(TASKS)?;
    let mut row = Row::default();
    let mut number = 0;
    for kind in ["flat", "nested", "meeting", "class", "choice"] {
        for task in all[kind].as_array().into_iter().flatten() {
            number += 1;
            if (number - 1) % every != 0 || only.as_deref().is_some_and(|only| only != kind) {
                continue;
            }
            one(kind, task, asked, &mut row).await?;
        }
    }
    row.print(&format!("llmnode, {format}"));
    Ok(())
}

/// Twenty-four choices from the state, by `choices`, by a validator alone, and by one that closes its list.
async fn listed(way: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut row = Row::default();
    let tasks: Vec<Value> = serde_json::from_str(include_str!("../choices.json"))?;
    for task in &tasks {
        one(way, task, ResponseFormat::Strict, &mut row).await?;
    }
    row.print(&format!("llmnode, strict, {way}"));
    Ok(())
}

async fn one(
    kind: &str,
    task: &Value,
    asked: ResponseFormat,
    row: &mut Row,
) -> Result<(), Box<dyn std::error::Error>> {
    let text = task["text"].as_str().unwrap_or_default().to_owned();
    let items = task["items"].as_array().into_iter().flatten();
    let items = items.filter_map(Value::as_str).map(str::to_owned).collect();
    let run = Run::new(OpenAi::from_env()?).with_state(World { items });
    let began = Instant::now();
    let answer = match kind {
        "flat" => value(run.call(&ReadBooking { text }), asked).await,
        "nested" => value(run.call(&ReadOrder { text }), asked).await,
        "meeting" => value(run.call(&ReadMeeting { text }), asked).await,
        "listed" => value(run.call(&ChooseListed { text }), asked).await,
        "narrowed" => value(run.call(&ChooseNarrowed { text }), asked).await,
        "class" => value(run.call(&Classify { text }), asked).await,
        _ => value(run.call(&ChooseItem { text }), asked).await,
    };
    row.time += began.elapsed();
    let total = run.ledger().total();
    row.requests += total.requests;
    row.prompt += total.input.known;
    row.completion += total.output.known;
    let right = answer
        .as_ref()
        .is_ok_and(|answer| same(answer, &task["right"]));
    row.first += u32::from(answer.is_ok() && total.requests == 1);
    row.add(kind, answer.is_ok(), right);
    if std::env::var_os("SHOW").is_some() {
        eprintln!("{kind} {} {right} {answer:?}", total.requests);
    }
    Ok(())
}

async fn value<T: serde::Serialize>(
    call: Call<'_, T>,
    asked: ResponseFormat,
) -> Result<Value, String> {
    let call = call
        .response_format(asked)
        .temperature(0.0)
        .max_tokens(MAX_TOKENS)
        .retries(RETRIES);
    let report = call.report().await.map_err(|error| {
        let answers = error
            .record()
            .into_iter()
            .flat_map(|record| &record.attempts);
        let answers: Vec<&str> = answers
            .filter_map(|attempt| attempt.answer.as_deref())
            .collect();
        format!("{error} {answers:?}")
    })?;
    serde_json::to_value(&report.value).map_err(|error| error.to_string())
}

/// Texts are compared without case, blanks around them and a point at their end.
fn same(answer: &Value, right: &Value) -> bool {
    let plain = |text: &str| text.trim().trim_end_matches('.').to_lowercase();
    match (answer, right) {
        (Value::String(a), Value::String(b)) => plain(a) == plain(b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => b
            .iter()
            .all(|(name, b)| same(a.get(name).unwrap_or(&Value::Null), b)),
        (a, b) => a == b,
    }
}
