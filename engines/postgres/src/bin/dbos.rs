//! Runs of a flow on DBOS, which is a library and Postgres: each entry of the
//! journal is a step that DBOS keeps.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use dbos::{
    Client, ClientConfig, Config, DBOS, EnqueueOptions, Error, QueueConflict, QueueOptions,
    SendOptions, StepOptions, WorkflowHandle,
};
use llmnode::flow::RunExt;
use llmnode::journal::{Entry, InDoubtOutcome, Replay, ReplayStep};
use llmnode::prelude::*;
use llmnode::{Approval, Paused, WaitingCall};
use llmnode_postgres::{Order, Support};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

const QUEUE: &str = "llmnode";
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// As DBOS keeps it.
#[derive(Debug, Serialize, Deserialize)]
struct Failed(String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

fn failed(error: NodeError) -> Error<Failed> {
    Error::Application(Failed(format!("{}: {error}", error.category())))
}

#[derive(Serialize, Deserialize)]
struct Outcome {
    state: Order,
    requests: u64,
    unknown: usize,
}

/// What waits for a person, as the event `waiting`.
#[derive(Default, Serialize, Deserialize)]
struct Waits {
    wait: u64,
    calls: Vec<WaitingCall>,
    /// A tool with `idempotent = false` that may have been executed or not.
    in_doubt: Option<String>,
}

type Decisions = BTreeMap<String, Approval>;

fn topic(wait: u64) -> String {
    format!("wait {wait}")
}

/// The workflow.
async fn support(order: Order) -> Result<Outcome, Error<Failed>> {
    let mut replay = Replay::new(move |start| {
        let order = order.clone();
        async move {
            let mut run = Run::new(OpenAi::from_env()?).with_state(order);
            start.resume(run.flow(Support))?.await?;
            Ok(run.into_state())
        }
    });
    let mut wait = 0;
    loop {
        match replay.take(once(&replay).await?).map_err(failed)? {
            ReplayStep::Waits(paused) => {
                wait += 1;
                replay.decide(person(paused, wait).await?);
            }
            ReplayStep::InDoubt { node, .. } => {
                wait += 1;
                replay.settle(settled(node, wait).await?);
            }
            ReplayStep::Ended(state) => {
                let history = replay
                    .history()
                    .await
                    .map_err(|error| Failed(error.to_string()));
                let history = history.map_err(Error::Application)?;
                return Ok(Outcome {
                    state: state.map_err(failed)?,
                    requests: history.ledger().total().requests,
                    unknown: history.unknown().len(),
                });
            }
            _ => {}
        }
    }
}

/// A step that fails is tried again in this process, since DBOS would keep its last
/// failure as its result.
async fn once(replay: &Replay<Order>) -> Result<Entry, Error<Failed>> {
    let options = StepOptions {
        max_attempts: u32::MAX,
        interval: Duration::from_millis(500),
        max_interval: Duration::from_secs(60),
        ..StepOptions::default()
    };
    dbos::step_with(&replay.name(), options, || {
        let next = replay.next();
        async { next.await.map_err(failed) }
    })
    .await
}

/// Asks until a decision fits.
async fn person(paused: Paused, wait: u64) -> Result<Paused, Error<Failed>> {
    let waits = Waits {
        wait,
        calls: paused.waiting(),
        in_doubt: None,
    };
    loop {
        let decisions: Decisions = answer(&waits).await?;
        let decided = decisions
            .into_iter()
            .try_fold(paused.clone(), |it, (id, to)| it.decide(&id, to));
        if let Ok(decided) = decided
            && decided.waiting().is_empty()
        {
            return Ok(decided);
        }
    }
}

async fn settled(node: String, wait: u64) -> Result<InDoubtOutcome, Error<Failed>> {
    answer(&Waits {
        wait,
        calls: Vec::new(),
        in_doubt: Some(node),
    })
    .await
}

async fn answer<T: DeserializeOwned>(waits: &Waits) -> Result<T, Error<Failed>> {
    dbos::set_event("waiting", waits).await?;
    loop {
        if let Some(answer) = dbos::recv(Some(&topic(waits.wait)), MONTH).await? {
            dbos::set_event("waiting", &Waits::default()).await?;
            return Ok(answer);
        }
    }
}

async fn work(url: &str, executor: &str) -> Result<(), BoxError> {
    let version = Some(env!("CARGO_PKG_VERSION").to_owned());
    let config = Config {
        app_version: version,
        executor_id: Some(executor.to_owned()),
        ..Config::new("llmnode", url)
    };
    let dbos = DBOS::new(config);
    dbos.register_workflow("support", support)?;
    dbos.launch().await?;
    let options = QueueOptions {
        polling_interval: Duration::from_millis(200),
        ..QueueOptions::default()
    };
    dbos.register_queue(QUEUE, options, QueueConflict::AlwaysUpdate)
        .await?;
    tokio::signal::ctrl_c().await?;
    dbos.shutdown().await;
    Ok(())
}

async fn waits(client: &Client, id: &str) -> Result<Option<Waits>, BoxError> {
    let waits: Option<Waits> = client.get_event(id, "waiting", Duration::ZERO).await?;
    Ok(waits.filter(|waits| !waits.calls.is_empty() || waits.in_doubt.is_some()))
}

async fn send(
    client: &Client,
    id: &str,
    wait: u64,
    message: &impl Serialize,
) -> Result<(), BoxError> {
    let options = SendOptions {
        topic: Some(&topic(wait)),
        ..SendOptions::default()
    };
    Ok(client.send_with(id, message, options).await?)
}

async fn start(client: &Client, id: &str, customer: &str, complaint: &str) -> Result<(), BoxError> {
    let order = Order {
        customer: customer.to_owned(),
        complaint: complaint.to_owned(),
        answer: String::new(),
        note: String::new(),
    };
    let options = EnqueueOptions {
        workflow_id: Some(id),
        ..EnqueueOptions::new(QUEUE)
    };
    let _: WorkflowHandle<Outcome, Failed> = client.enqueue_with("support", order, options).await?;
    Ok(())
}

async fn status(client: &Client, id: &str) -> Result<serde_json::Value, BoxError> {
    let status = client.workflow_status(id).await?;
    let status = status.map(|status| status.as_str());
    let Waits {
        calls, in_doubt, ..
    } = waits(client, id).await?.unwrap_or_default();
    Ok(json!({"status": status, "waiting": calls, "in_doubt": in_doubt}))
}

/// Every call that waits.
async fn approve(client: &Client, id: &str) -> Result<(), BoxError> {
    let waits = waits(client, id)
        .await?
        .filter(|waits| !waits.calls.is_empty())
        .ok_or("nothing waits")?;
    let decisions: Decisions = waits
        .calls
        .into_iter()
        .map(|call| (call.id, Approval::yes()))
        .collect();
    send(client, id, waits.wait, &decisions).await
}

/// After a person has seen that it did not happen.
async fn rerun(client: &Client, id: &str) -> Result<(), BoxError> {
    let waits = waits(client, id)
        .await?
        .filter(|waits| waits.in_doubt.is_some())
        .ok_or("nothing is in doubt")?;
    send(client, id, waits.wait, &InDoubtOutcome::Rerun).await
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let url = std::env::var("DATABASE_URL")?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["worker", executor] = arguments[..] {
        return work(&url, executor).await;
    }
    let config = ClientConfig {
        app_name: Some("llmnode".to_owned()),
        ..ClientConfig::new(&url)
    };
    let client = Client::connect(config).await?;
    match arguments[..] {
        ["start", id, customer, complaint] => start(&client, id, customer, complaint).await?,
        ["status", id] => println!("{:#}", status(&client, id).await?),
        ["approve", id] => approve(&client, id).await?,
        ["rerun", id] => rerun(&client, id).await?,
        ["result", id] => {
            let run: WorkflowHandle<Outcome, Failed> = client.retrieve_workflow(id);
            let outcome: Outcome = run.result().await?;
            println!("{:#}", serde_json::to_value(outcome)?);
        }
        _ => eprintln!(
            "dbos worker EXECUTOR | start ID CUSTOMER COMPLAINT | status ID | approve ID | rerun \
             ID | result ID"
        ),
    }
    client.close().await;
    Ok(())
}
