//! The flows of the tests, the worker that executes them as a process of its own, and the model that they ask.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llmnode::flow::{Batch, Step};
use llmnode::graph::{Graph, Registry};
use llmnode::prelude::*;
use llmnode::stub_server::{LoggedRequest, StubReply};
use llmnode::{Action, Cx, Exec, Node, NodeFacts, StubServer};
use llmnode_restate::Worker;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::{Process, port, spawn, unix_ms};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct World {
    pub(crate) topic: String,
    pub(crate) plan: String,
    pub(crate) found: String,
    pub(crate) notes: Vec<String>,
    pub(crate) answer: String,
    pub(crate) steps_left: u64,
    #[serde(deserialize_with = "padding")]
    pub(crate) padding: String,
}

/// As in a worker whose state has become another type.
fn padding<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    match std::env::var("LLMNODE_STATE") {
        Ok(_) => Err(serde::de::Error::custom("it is another type")),
        Err(_) => String::deserialize(from),
    }
}

impl World {
    pub(crate) fn on(topic: &str) -> Self {
        World {
            topic: topic.to_owned(),
            ..World::default()
        }
    }
}

/// What a tool or a node did outside: a line with its time.
pub(crate) fn effect(what: &str) {
    let path = std::env::var("LLMNODE_EFFECTS").unwrap();
    let mut file = std::fs::File::options()
        .append(true)
        .create(true)
        .open(path)
        .unwrap();
    writeln!(file, "{} {what}", unix_ms()).unwrap();
}

/// Searches.
#[tool]
fn search(query: String, world: &World) -> String {
    effect(&format!("search {query} {}", world.topic));
    format!("facts on {query}")
}

/// Publishes a text.
#[tool(require_approval)]
fn publish(text: String, world: &World) -> String {
    effect(&format!("publish {text} {}", world.topic));
    format!("published: {text}")
}

#[llm_node(prompt = "Plan {topic}", state = World, store = plan)]
struct Plan {
    #[prep(state.topic.clone())]
    topic: String,
}

#[llm_node(prompt = "Research {topic} by this plan: {plan}", tools = [Search, Publish], state = World, store = found)]
struct Research {
    #[prep(state.topic.clone())]
    topic: String,
    #[prep(state.plan.clone())]
    plan: String,
}

#[llm_node(prompt = "Rate {topic} as {what}", state = World, batch = Rate::all, post = Rate::keep)]
struct Rate {
    topic: String,
    what: &'static str,
}

impl Rate {
    fn all(world: &World) -> Vec<Self> {
        ["a", "b", "c", "d"]
            .map(|what| Rate {
                topic: world.topic.clone(),
                what,
            })
            .into()
    }

    fn keep(_: Vec<Self>, notes: Vec<String>, world: &mut World) {
        world.notes = notes;
    }
}

#[llm_node(prompt = "Write {topic} up: {found}", state = World, store = answer)]
struct Report {
    #[prep(state.topic.clone())]
    topic: String,
    #[prep(state.found.clone())]
    found: String,
}

/// Writes the text that is published.
#[llm_node(tool, prompt = "Edit {title}", tools = [Publish], state = World)]
struct Edit {
    title: String,
}

#[llm_node(prompt = "Lead {topic}", tools = [Edit], state = World, store = answer)]
struct Lead {
    #[prep(state.topic.clone())]
    topic: String,
}

flow! { Press(World): Lead => end }

flow! { Study(World): Plan => Research, Research => Rates, Batch<Rate> as Rates => Report, Report => end }

/// A plan, four turns of an agent, four ratings, a report.
pub(crate) const NEEDED: u64 = 10;

#[derive(Action)]
enum Go {
    On,
    Done,
}

#[llm_node(prompt = "Count {topic} {steps_left}", state = World, action = Go, post = Count::next)]
struct Count {
    #[prep(state.topic.clone())]
    topic: String,
    #[prep(state.steps_left)]
    steps_left: u64,
}

impl Count {
    fn next(self, _: String, world: &mut World) -> Go {
        world.steps_left -= 1;
        if world.steps_left == 0 {
            Go::Done
        } else {
            Go::On
        }
    }
}

flow! { pub(crate) Counting(World): Count => match { Go::On => Count, Go::Done => end } }

/// Writes a state of so many bytes, as often as it says.
struct Grow {
    bytes: usize,
}

#[llmnode::step]
impl Step<World> for Grow {
    type Output = String;
    type Action = Go;

    async fn prep(world: &World) -> Result<Self, BoxError> {
        Ok(Grow {
            bytes: world.topic.parse()?,
        })
    }

    async fn exec(&self, _: &Cx<'_, World>) -> Result<String, BoxError> {
        Ok("x".repeat(self.bytes))
    }

    fn post(self, padding: String, world: &mut World) -> Result<Go, BoxError> {
        world.padding = padding;
        world.steps_left -= 1;
        Ok(if world.steps_left == 0 {
            Go::Done
        } else {
            Go::On
        })
    }
}

flow! { pub(crate) Growing(World): Grow => match { Go::On => Grow, Go::Done => end } }

/// Takes the money, at most once; the first time, the bank never answers.
struct Charge {
    topic: String,
}

impl Node for Charge {
    type Output = String;
    const NAME: &'static str = "charge";
    const FACTS: NodeFacts = NodeFacts::new().idempotent(false);
}

impl Exec<World> for Charge {
    async fn exec(&self, _: &Cx<'_, World>) -> Result<String, BoxError> {
        let what = format!("charge {}", self.topic);
        let first = !effects_of(&std::env::var("LLMNODE_EFFECTS")?.into())
            .iter()
            .any(|(_, done)| *done == what);
        effect(&what);
        if first {
            std::future::pending::<()>().await;
        }
        Ok("receipt".to_owned())
    }
}

impl Step<World> for Charge {
    type Output = String;
    type Action = ();

    async fn prep(world: &World) -> Result<Self, BoxError> {
        Ok(Charge {
            topic: world.topic.clone(),
        })
    }

    fn post(self, receipt: String, world: &mut World) -> Result<(), BoxError> {
        world.answer = receipt;
        Ok(())
    }
}

flow! { Pay(World): Charge => end }

flow! { Draft(World): Research => Plan, Plan => end }

mod changed {
    use super::*;

    flow! { pub(super) Draft(World): Research => Report, Report => end }
}

const GRAPH: &str = r#"{"format": "llmnode/graph", "version": 1, "name": "desk", "inputs": {"question": {"type": "string"}},
    "nodes": [
        {"id": "find", "type": "agent", "data": {"prompt": "Find {{ question }}", "save_as": "facts"}},
        {"id": "write", "type": "agent", "data": {"prompt": "Write {{ question }} up", "save_as": "answer", "require_approval": true}}],
    "edges": [{"source": "find", "target": "write"}, {"source": "write", "target": "END"}]}"#;

pub(crate) async fn world(world: World) -> Result<Run<World>, BoxError> {
    Ok(Run::new(OpenAi::from_env()?).with_state(world))
}

/// Does not look at the input.
async fn another(_: serde_json::Value) -> Result<Run<World>, BoxError> {
    world(World::default()).await
}

async fn limited(world: World) -> Result<Run<World>, BoxError> {
    Ok(Run::new(OpenAi::from_env()?)
        .with_limits(Limits::new().requests(2))
        .with_state(world))
}

fn worker() -> Worker {
    let worker = Worker::new()
        .flow("study", world, || Study)
        .flow("counting", world, || Counting)
        .flow("growing", world, || Growing)
        .flow("talking", world, || crate::talk::Talking)
        .flow("refunding", world, || crate::asks::Refunding)
        .flow("limited", limited, || Counting)
        .flow("press", world, || Press)
        .flow("pay", world, || Pay)
        .settles::<Charge>();
    let worker = crate::deployed::with_shop(worker);
    let registry = Registry::new().build().unwrap();
    let graph = Graph::parse(GRAPH, &registry).unwrap();
    let seconds =
        std::env::var("LLMNODE_ENTRY_SECONDS").map_or(900, |seconds| seconds.parse().unwrap());
    let worker = worker.entry_timeout(Duration::from_secs(seconds));
    let worker = worker.graph(
        "desk",
        || async { Ok(Run::new(OpenAi::from_env()?)) },
        graph,
    );
    let is_set = |name| std::env::var(name).is_ok();
    match (is_set("LLMNODE_CHANGED"), is_set("LLMNODE_STATE")) {
        (true, _) => worker.flow("draft", world, || changed::Draft),
        (_, true) => worker.flow("draft", another, || Draft),
        _ => worker.flow("draft", world, || Draft),
    }
}

/// Not a test: the process of a worker, which the tests start.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a worker's process"]
async fn process() {
    if let Ok(address) = std::env::var("LLMNODE_WORKER") {
        crate::asks::connect().await;
        worker().serve(address).await.unwrap();
    }
}

/// What the tests know of the workers' surroundings.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) model: String,
    pub(crate) effects: PathBuf,
}

impl Site {
    pub(crate) fn new(name: &str, model: impl Into<String>) -> Self {
        let effects =
            std::env::temp_dir().join(format!("llmnode-effects-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&effects);
        Site {
            model: model.into(),
            effects,
        }
    }

    pub(crate) fn command(&self, port: u16) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--ignored", "--exact", "work::process", "--quiet"])
            .env("LLMNODE_WORKER", format!("127.0.0.1:{port}"))
            .env("LLMNODE_EFFECTS", &self.effects)
            .env("OPENAI_BASE_URL", &self.model)
            .env("OPENAI_API_KEY", "k")
            .env("OPENAI_MODEL", "m")
            .stdout(std::process::Stdio::null());
        command
    }

    pub(crate) fn worker(&self) -> (u16, Process) {
        let port = port();
        (port, spawn(self.command(port)))
    }

    /// What was done, and when.
    pub(crate) fn effects(&self) -> Vec<(u64, String)> {
        effects_of(&self.effects)
    }
}

fn effects_of(path: &PathBuf) -> Vec<(u64, String)> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let parts = text.lines().filter_map(|line| line.split_once(' '));
    parts
        .map(|(time, what)| (time.parse().unwrap(), what.to_owned()))
        .collect()
}

/// How often each request was made.
pub(crate) type Asked = Arc<Mutex<HashMap<String, u64>>>;

/// The first message of the user, and how many results of tools there are.
fn key(request: &LoggedRequest) -> (String, usize) {
    let messages = request.messages();
    let results = messages.iter().filter(|(role, _)| role == "tool").count();
    let (_, first) = messages
        .into_iter()
        .find(|(role, _)| role == "user")
        .unwrap();
    (first, results)
}

/// A model that answers after `delay`, and counts what it is asked before it answers.
pub(crate) async fn model(port: u16, delay: Duration) -> (StubServer, Asked) {
    let asked = Asked::default();
    let counted = Arc::clone(&asked);
    let server = StubServer::builder()
        .port(port)
        .default_reply(StubReply::for_request(move |request| {
            let (first, results) = key(request);
            *counted
                .lock()
                .unwrap()
                .entry(format!("{first} / {results}"))
                .or_default() += 1;
            let reply = match results {
                0 if first.starts_with("Lead") => {
                    StubReply::call("edit", json!({"title": first[5..]}))
                }
                0 if first.starts_with("Edit") => {
                    StubReply::call("publish", json!({"text": "tea is wet"}))
                }
                0 if first.starts_with("Refund") => {
                    StubReply::call("shop_refund", json!({"order": first[7..]}))
                }
                _ if !first.starts_with("Research") => {
                    StubReply::text(format!("answer to: {first}"))
                }
                0 => StubReply::call("search", json!({"query": "tea"})),
                1 => StubReply::call("search", json!({"query": "water"})),
                2 => StubReply::call("publish", json!({"text": "tea is wet"})),
                _ => StubReply::text("it is published"),
            };
            reply.after(delay)
        }));
    (server.start().await.unwrap(), asked)
}

/// How many requests were made of a run, and how many of them again.
pub(crate) fn counts(asked: &Asked, topic: &str) -> (u64, u64) {
    let asked = asked.lock().unwrap();
    let of = |key: &&String| key.split([' ', ':']).any(|word| word == topic);
    let times: Vec<u64> = asked
        .iter()
        .filter(|(key, _)| of(key))
        .map(|(_, times)| *times)
        .collect();
    (
        times.iter().sum(),
        times.iter().map(|times| times - 1).sum(),
    )
}
