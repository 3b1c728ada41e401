//! A flow on an engine that replays, whose processes end at random.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use llmnode::flow::{Batch, Step};
use llmnode::journal::{Entry, History, InDoubtOutcome, Replay, ReplayStart, ReplayStep};
use llmnode::prelude::*;
use llmnode::{
    Approval, BoxError, Category, Cx, Exec, FnModel, ModelError, Node, NodeFacts, Reply, Request,
    Role,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What tools did, by the order. A tool's function has nothing of the test.
static DONE: LazyLock<Mutex<HashMap<u64, Vec<String>>>> = LazyLock::new(Mutex::default);
static ORDERS: AtomicU64 = AtomicU64::new(0);

fn done(order: u64, what: &str) {
    DONE.lock()
        .unwrap()
        .entry(order)
        .or_default()
        .push(what.to_owned());
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Shop {
    order: u64,
    advice: String,
    stars: u32,
    lines: Vec<String>,
    receipt: String,
}

/// Says what is in stock.
#[tool]
fn stock(article: String, shop: &Shop) -> u32 {
    done(shop.order, &format!("stock {article}"));
    3
}

/// Keeps a lamp.
#[tool(require_approval)]
fn reserve(count: u32, shop: &Shop) -> String {
    done(shop.order, "reserve");
    format!("{count} reserved")
}

#[llm_node(prompt = "Advise.", tools = [Stock, Reserve], state = Shop, store = advice)]
struct Advise {}

#[llm_output]
struct Rating {
    #[schemars(range(max = 5))]
    stars: u32,
}

fn keep_stars(_: Rate, rating: Rating, shop: &mut Shop) {
    shop.stars = rating.stars;
}

/// Corrected once, then by another model.
#[llm_node(prompt = "Rate.", output = Rating, state = Shop, retries = 1, fallback_model = "other", post = keep_stars)]
struct Rate {}

#[llm_node(prompt = "Line {n}.", state = Shop)]
struct Line {
    n: u32,
}

fn three(_: &Shop) -> Vec<Line> {
    (1..=3).map(|n| Line { n }).collect()
}

fn keep_lines(_: Vec<Line>, lines: Vec<String>, shop: &mut Shop) {
    shop.lines = lines;
}

/// Takes the money, at most once.
struct Charge {
    order: u64,
}

impl Node for Charge {
    type Output = String;
    const NAME: &'static str = "charge";
    const FACTS: NodeFacts = NodeFacts::new().idempotent(false);
}

impl Exec<Shop> for Charge {
    async fn exec(&self, _: &Cx<'_, Shop>) -> Result<String, BoxError> {
        tokio::task::yield_now().await;
        done(self.order, "charge");
        tokio::task::yield_now().await;
        Ok("receipt".to_owned())
    }
}

impl Step<Shop> for Charge {
    type Output = String;
    type Action = ();

    async fn prep(shop: &Shop) -> Result<Self, BoxError> {
        Ok(Charge { order: shop.order })
    }

    fn post(self, receipt: String, shop: &mut Shop) -> Result<(), BoxError> {
        shop.receipt = receipt;
        Ok(())
    }
}

impl llmnode::flow::BatchStep<Shop> for Line {
    type Output = String;
    type Action = ();

    async fn prep(shop: &Shop) -> Result<Vec<Self>, BoxError> {
        Ok(three(shop))
    }

    fn post(nodes: Vec<Self>, lines: Vec<String>, shop: &mut Shop) -> Result<(), BoxError> {
        keep_lines(nodes, lines, shop);
        Ok(())
    }
}

flow! { Sell(Shop): Advise => Rate, Rate => Lines, Batch<Line> as Lines => Charge, Charge => end }

/// Needed without a crash: 3 of the agent, 3 of the rating, 3 lines.
const NEEDED: u64 = 9;

fn answer(request: &Request) -> Reply {
    let first = &request
        .messages
        .iter()
        .find(|message| message.content.contains('.'))
        .unwrap()
        .content;
    let results = request
        .messages
        .iter()
        .filter(|message| message.role == Role::Tool)
        .count();
    match (first.as_str(), results) {
        ("Advise.", 0) => Reply::text("").call("stock", json!({"article": "lamp"})),
        ("Advise.", 1) => Reply::text("")
            .call("stock", json!({"article": "rope"}))
            .call("reserve", json!({"count": 2})),
        ("Advise.", _) => Reply::text("Take the lamp."),
        (line, _) if line.starts_with("Line") => Reply::text(format!("{line} is ready")),
        _ => Reply::text("9"),
    }
}

struct Shelf {
    order: u64,
    requests: Arc<AtomicU64>,
}

impl Shelf {
    fn new() -> Self {
        Shelf {
            order: ORDERS.fetch_add(1, Ordering::Relaxed),
            requests: Arc::default(),
        }
    }

    fn replay(&self) -> Replay<Shop> {
        let (order, requests) = (self.order, Arc::clone(&self.requests));
        Replay::new(move |start: ReplayStart| {
            let (one, two) = (Arc::clone(&requests), Arc::clone(&requests));
            async move {
                let model = FnModel::new(move |request: &Request| {
                    one.fetch_add(1, Ordering::Relaxed);
                    answer(request)
                });
                let other = FnModel::new(move |_: &Request| {
                    two.fetch_add(1, Ordering::Relaxed);
                    Reply::json(json!({"stars": 4}))
                });
                let shop = Shop {
                    order,
                    ..Shop::default()
                };
                let mut run = Run::new(model).model("other", other).with_state(shop);
                start.settles::<Charge>().resume(run.flow(Sell))?.await?;
                Ok(run.into_state())
            }
        })
    }

    fn done(&self) -> Vec<String> {
        DONE.lock()
            .unwrap()
            .get(&self.order)
            .cloned()
            .unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug)]
enum Crash {
    Before,
    /// After so many turns of the process's other tasks.
    Within(u8),
    /// The engine does not hear of what came.
    After,
}

/// Keeps what each call returned, as JSON.
#[derive(Default)]
struct Engine {
    kept: Vec<(String, String)>,
    crashes: Vec<Crash>,
    settled: u32,
}

impl Engine {
    /// `None`: the process ended.
    async fn once(&mut self, index: usize, replay: &Replay<Shop>) -> Option<Entry> {
        if let Some((name, entry)) = self.kept.get(index) {
            assert_eq!(*name, replay.name(), "a replay has the same names");
            return Some(serde_json::from_str(entry).unwrap());
        }
        let next = replay.next();
        match self.crashes.pop() {
            Some(Crash::Before) => return None,
            Some(Crash::Within(turns)) => {
                tokio::select! {
                    biased;
                    _ = next => {}
                    () = async { for _ in 0..turns { tokio::task::yield_now().await } } => {}
                }
                return None;
            }
            Some(Crash::After) => {
                let _ = next.await;
                return None;
            }
            None => {}
        }
        let entry = next.await.unwrap();
        self.kept
            .push((replay.name(), serde_json::to_string(&entry).unwrap()));
        Some(entry)
    }

    async fn process(
        &mut self,
        mut replay: Replay<Shop>,
    ) -> Option<(Result<Shop, NodeError>, History)> {
        for index in 0.. {
            let entry = self.once(index, &replay).await?;
            match replay.take(entry).unwrap() {
                ReplayStep::On { .. } => {}
                ReplayStep::Waits(paused) => replay.decide(approved(paused)),
                ReplayStep::InDoubt { node, at, .. } => {
                    assert_eq!(
                        (node.as_str(), at.to_string().as_str()),
                        ("charge", "Charge")
                    );
                    self.settled += 1;
                    replay.settle(InDoubtOutcome::Rerun);
                }
                ReplayStep::Ended(outcome) => {
                    return Some((outcome, replay.history().await.unwrap()));
                }
                _ => unreachable!(),
            }
        }
        None
    }

    async fn run(&mut self, shelf: &Shelf) -> (Shop, History) {
        loop {
            let ended = self.process(shelf.replay()).await;
            // What the process was doing goes with it.
            tokio::task::yield_now().await;
            if let Some((outcome, history)) = ended {
                return (
                    Shop {
                        order: 0,
                        ..outcome.unwrap()
                    },
                    history,
                );
            }
        }
    }
}

fn expected() -> Shop {
    Shop {
        order: 0,
        advice: "Take the lamp.".to_owned(),
        stars: 4,
        lines: (1..=3).map(|n| format!("Line {n}. is ready")).collect(),
        receipt: "receipt".to_owned(),
    }
}

#[tokio::test]
async fn without_a_crash_each_entry_is_one_of_the_engine() {
    let (shelf, mut engine) = (Shelf::new(), Engine::default());
    let (shop, history) = engine.run(&shelf).await;
    assert_eq!(
        (shop, shelf.requests.load(Ordering::Relaxed)),
        (expected(), NEEDED)
    );
    assert_eq!(
        shelf.done(),
        ["stock lamp", "stock rope", "reserve", "charge"]
    );
    assert_eq!(
        (history.unknown().len(), history.ledger().total().requests),
        (0, NEEDED)
    );
    let names: Vec<&str> = engine.kept.iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        (names[0], names.last().unwrap().split(' ').next()),
        ("start 1", Some("Charge")),
        "{names:?}"
    );
}

fn crashes() -> impl Strategy<Value = Vec<Crash>> {
    let crash = prop_oneof![
        Just(Crash::Before),
        (0..40_u8).prop_map(Crash::Within),
        Just(Crash::After)
    ];
    // An engine keeps one entry between two crashes at least now and then.
    prop::collection::vec(crash, 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whenever_processes_end_the_flow_ends_as_without(crashes in crashes()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let shelf = Shelf::new();
            let (number, mut engine) = (crashes.len(), Engine { crashes, ..Engine::default() });
            let (shop, history) = engine.run(&shelf).await;
            assert_eq!(shop, expected());
            let repeats = shelf.requests.load(Ordering::Relaxed) - NEEDED;
            assert!(repeats <= number as u64, "{repeats} requests again");
            assert_eq!(history.ledger().total().requests, NEEDED + history.unknown().len() as u64);
            let charged = shelf.done().iter().filter(|done| *done == "charge").count();
            assert!(charged as u32 <= 1 + engine.settled, "{charged} charges, {} times asked", engine.settled);
        });
    }
}

/// A crash in the middle of a charge, then this settlement.
async fn in_doubt(
    settlements: Vec<InDoubtOutcome>,
) -> (Shelf, Vec<Option<String>>, Result<Shop, NodeError>) {
    let (shelf, mut engine) = (Shelf::new(), Engine::default());
    let mut replay = shelf.replay();
    for index in 0.. {
        let entry = engine.once(index, &replay).await.unwrap();
        let begins_to_charge = serde_json::to_string(&entry)
            .unwrap()
            .contains("call_began");
        match replay.take(entry).unwrap() {
            ReplayStep::Waits(paused) => replay.decide(approved(paused)),
            _ if begins_to_charge => break,
            _ => {}
        }
    }
    // The process ends.
    drop(replay);
    let (mut replay, mut asked) = (shelf.replay(), Vec::new());
    let mut settlements = settlements.into_iter();
    for index in 0.. {
        let entry = engine.once(index, &replay).await.unwrap();
        match replay.take(entry).unwrap() {
            ReplayStep::Waits(paused) => replay.decide(approved(paused)),
            ReplayStep::InDoubt { fault, .. } => {
                asked.push(fault);
                replay.settle(settlements.next().unwrap());
            }
            ReplayStep::Ended(outcome) => return (shelf, asked, outcome),
            _ => {}
        }
    }
    unreachable!()
}

fn approved(mut paused: llmnode::Paused) -> llmnode::Paused {
    for call in paused.waiting() {
        paused = paused.decide(&call.id, Approval::yes()).unwrap();
    }
    paused
}

#[tokio::test]
async fn what_may_have_happened_is_asked_and_settled() {
    let (shelf, asked, outcome) = in_doubt(vec![InDoubtOutcome::Rerun]).await;
    assert_eq!(
        (asked, outcome.unwrap().receipt),
        (vec![None], "receipt".to_owned())
    );
    assert_eq!(shelf.done().last().unwrap(), "charge");

    let (shelf, asked, outcome) = in_doubt(vec![
        InDoubtOutcome::Happened(json!(7)),
        InDoubtOutcome::Happened(json!("by the bank")),
    ])
    .await;
    let fault = asked[1].as_ref().unwrap();
    assert!(
        fault.starts_with("that is no output of `charge`"),
        "{fault}"
    );
    assert_eq!(
        (asked.len(), outcome.unwrap().receipt),
        (2, "by the bank".to_owned())
    );
    assert!(!shelf.done().iter().any(|done| done == "charge"));
}

#[llm_node(prompt = "Say it.", transport_retries = 0)]
struct Say {}

impl Step<Value> for Say {
    type Output = String;
    type Action = ();

    async fn prep(_: &Value) -> Result<Self, BoxError> {
        Ok(Say {})
    }

    fn post(self, said: String, state: &mut Value) -> Result<(), BoxError> {
        *state = said.into();
        Ok(())
    }
}

flow! { Speak(Value): Say => end }

#[tokio::test]
async fn a_failure_that_may_pass_is_the_engines_to_repeat_and_others_end_the_flow() {
    for (category, passes) in [(Category::ServerError, true), (Category::NotFound, false)] {
        let asked = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&asked);
        let mut replay = Replay::<Value>::new(move |start| {
            let asked = Arc::clone(&counted);
            async move {
                let model =
                    FnModel::new(
                        move |_: &Request| match asked.fetch_add(1, Ordering::Relaxed) {
                            0 => Reply::error(ModelError::new(category, "not now")),
                            _ => Reply::text("said"),
                        },
                    );
                let mut run = Run::new(model).with_state(json!(null));
                start.resume(run.flow(Speak))?.await?;
                Ok(run.into_state())
            }
        });
        let mut failures = 0;
        let outcome = loop {
            match replay.next().await {
                Err(error) => {
                    assert_eq!(error.category(), category);
                    failures += 1;
                    let spent = replay.history().await.unwrap().ledger().total();
                    assert_eq!(spent.requests, 1, "what was spent is kept before");
                }
                Ok(entry) => {
                    if let ReplayStep::Ended(outcome) = replay.take(entry).unwrap() {
                        break outcome;
                    }
                }
            }
        };
        match passes {
            true => assert_eq!((failures, outcome.unwrap()), (1, json!("said"))),
            false => assert_eq!((failures, outcome.unwrap_err().category()), (0, category)),
        }
        assert!(replay.history().await.unwrap().unknown().is_empty());
    }
}
