//! An agent in a flow with a journal, whose process is killed at each record.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{Approval, Category, Cx, FnModel, Paused, Reply, ScriptedModel};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[path = "../../crates/llmnode-flow/tests/journal/killing.rs"]
pub(crate) mod killing;

use killing::Killing;

/// Appends a line to a file beside the journal, in one piece.
fn note(effects: &Path, what: &str) {
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(effects)
        .unwrap();
    file.write_all(format!("{what}\n").as_bytes()).unwrap();
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Shop {
    effects: PathBuf,
    receipt: String,
    thanks: String,
}

/// Says what is in stock.
#[tool]
fn stock(cx: &Cx<'_, Shop>) -> u32 {
    note(
        &cx.state().effects,
        &format!("stock {}", cx.call_id().unwrap()),
    );
    3
}

/// Takes the money.
#[tool(idempotent = false)]
async fn charge(cents: u32, shop: &Shop) -> String {
    note(&shop.effects, &format!("charge {cents}"));
    format!("charged {cents}")
}

#[llm_output]
struct Receipt {
    cents: u32,
}

#[validate]
impl Receipt {
    fn it_is_what_was_charged(&self) -> Result<(), Invalid> {
        if self.cents == 5 {
            Ok(())
        } else {
            Err(Invalid::at("cents", "is not what was charged"))
        }
    }
}

/// Sells.
#[llm_node(prompt = "Sell.", output = Receipt, state = Shop, tools = [Stock, Charge], retries = 1, post = Sell::keep)]
struct Sell {}

impl Sell {
    fn keep(self, receipt: Receipt, shop: &mut Shop) {
        shop.receipt = format!("{} cents", receipt.cents);
    }
}

/// Thanks.
#[llm_node(prompt = "Thank for {receipt}.", state = Shop, store = thanks)]
struct Thank {
    #[prep(state.receipt.clone())]
    receipt: String,
}

flow! { Sale(Shop): Sell => Thank, Thank => end }

/// Answers by what was said so far, and notes each request.
fn seller(effects: PathBuf) -> FnModel {
    FnModel::new(move |request| {
        let said: Vec<_> = request
            .messages
            .iter()
            .map(|message| message.content.as_str())
            .collect();
        note(
            &effects,
            &format!("request {}", said.join(" | ").replace('\n', " ")),
        );
        match (said[0], said.len()) {
            ("Sell.", 1) => Reply::text("")
                .call("stock", json!({}))
                .call("charge", json!({"cents": 5})),
            ("Sell.", 4) => Reply::json(json!({"cents": 7})),
            ("Sell.", 6) => Reply::text("").call("stock", json!({})),
            ("Sell.", 8) => Reply::json(json!({"cents": 5})),
            _ => Reply::text("Thank you."),
        }
    })
    .named("seller")
}

/// The process that is killed: this test program, started again.
#[tokio::test]
async fn child() {
    let Some((journal, at)) = killing::orders() else {
        return;
    };
    let effects = journal.with_extension("effects");
    let mut run = Run::new(seller(effects.clone())).with_state(Shop {
        effects,
        ..Shop::default()
    });
    let file = JournalFile::open(&journal).unwrap();
    run.flow(Sale)
        .resume(Killing::new(file, Some(at)))
        .await
        .unwrap();
}

fn journal(name: &str) -> PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-agent-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder.join("sale.journal")
}

fn lines(journal: &Path, kind: &str) -> Vec<String> {
    let effects = std::fs::read_to_string(journal.with_extension("effects")).unwrap_or_default();
    effects
        .lines()
        .filter_map(|line| line.strip_prefix(kind))
        .map(str::to_owned)
        .collect()
}

/// Kills a process there, and continues in this one. Returns whether it had ended before.
async fn killed_at(moment: usize) -> bool {
    let journal = journal(&moment.to_string());
    let ended = !killing::was_killed(&mut killing::start("killed::child", &journal, moment));

    let effects = journal.with_extension("effects");
    let shop = || Shop {
        effects: effects.clone(),
        ..Shop::default()
    };
    let mut run = Run::new(seller(effects.clone())).with_state(shop());
    let outcome = run
        .flow(Sale)
        .resume(JournalFile::open(&journal).unwrap())
        .await;
    let doubted = match outcome {
        Ok(()) => false,
        Err(error) => {
            // What may have been charged is not charged again: it is asked about by name.
            assert_eq!(error.category(), Category::ConfigError, "{error}");
            assert!(
                error.message().contains("the node `charge` was called"),
                "{error}"
            );
            let history = JournalFile::open(&journal).unwrap().history().unwrap();
            assert_eq!(history.in_doubt().unwrap().node, "charge");
            assert!(lines(&journal, "charge ").len() <= 1);
            run = Run::new(seller(effects.clone())).with_state(shop());
            run.flow(Sale)
                .resume(JournalFile::open(&journal).unwrap())
                .rerun()
                .await
                .unwrap();
            true
        }
    };
    assert_eq!(run.state().thanks, "Thank you.", "{moment}");
    assert!(
        lines(&journal, "charge ").len() <= 1 + usize::from(doubted),
        "{moment}"
    );
    // Each request is made once, or its outcome is unknown.
    let history = JournalFile::open(&journal).unwrap().history().unwrap();
    let (requests, unknown) = (lines(&journal, "request "), history.unknown().len());
    let different: BTreeSet<_> = requests.iter().collect();
    assert_eq!(different.len(), 5, "{moment}: {requests:?}");
    assert!(
        requests.len() <= 5 + unknown,
        "{moment}: {unknown} unknown of {requests:?}"
    );
    // A tool that is repeated has the same id, and another call another one.
    let mut ids: BTreeMap<String, usize> = BTreeMap::new();
    lines(&journal, "stock ")
        .into_iter()
        .for_each(|id| *ids.entry(id).or_default() += 1);
    assert_eq!(ids.len(), 2, "{moment}: {ids:?}");
    // The flow has ended: nothing of what was said is left.
    let text = std::fs::read_to_string(&journal).unwrap();
    assert!(
        !text.contains("charged 5") && !text.contains("\\\"cents\\\": 7"),
        "{text}"
    );
    let total = history.ledger().total().requests as usize;
    assert!(
        (requests.len()..=requests.len() + unknown).contains(&total),
        "{moment}: {total}, {unknown} unknown"
    );
    std::fs::remove_dir_all(journal.parent().unwrap()).unwrap();
    ended
}

#[tokio::test]
async fn killed_at_each_record_an_agent_goes_on() {
    let mut moment = 0;
    while !killed_at(moment).await {
        moment += 1;
    }
    assert!(moment > 40, "{moment}");
}

/// Sells, once somebody has said so.
#[llm_node(prompt = "Sell it.", state = Shop, tools = [Stock, Refund], store = receipt)]
struct Return {}

/// Gives the money back.
#[tool(require_approval, idempotent = false)]
fn refund(shop: &Shop) -> &'static str {
    note(&shop.effects, "refund");
    "refunded"
}

flow! { Returns(Shop): Return => end }

#[tokio::test]
async fn a_pause_is_in_the_journal_and_is_decided_in_another_process() {
    let journal = journal("paused");
    let effects = journal.with_extension("effects");
    let file = || JournalFile::open(&journal).unwrap();
    let run = |model: ScriptedModel| {
        Run::new(model).with_state(Shop {
            effects: effects.clone(),
            ..Shop::default()
        })
    };
    let first = ScriptedModel::new().reply(
        Reply::text("")
            .call("refund", json!({}))
            .call("stock", json!({})),
    );
    let error = run(first).flow(Returns).resume(file()).await.unwrap_err();
    assert_eq!(error.category(), Category::Paused);
    assert_eq!(
        (
            lines(&journal, "refund").len(),
            lines(&journal, "stock ").len()
        ),
        (0, 1)
    );

    // Without a decision it pauses again, with the same call; nothing is asked and nothing runs.
    let none = ScriptedModel::new();
    let error = run(none.clone())
        .flow(Returns)
        .resume(file())
        .await
        .unwrap_err();
    let paused: Paused = error.paused().unwrap();
    assert_eq!(
        (paused.waiting()[0].id.as_str(), none.requests().len()),
        ("call_1", 0)
    );
    assert_eq!(lines(&journal, "stock ").len(), 1);

    let second = ScriptedModel::new().reply("Returned.");
    let mut other = run(second.clone());
    let decided = paused.decide("call_1", Approval::yes()).unwrap();
    other
        .flow(Returns)
        .resume(file())
        .approve(decided)
        .await
        .unwrap();
    assert_eq!(other.state().receipt, "Returned.");
    assert_eq!(
        super::library::results(&second.requests()[0]),
        ["refunded", "3"]
    );
    assert_eq!(
        (
            lines(&journal, "refund").len(),
            lines(&journal, "stock ").len()
        ),
        (1, 1)
    );
    let history = file().history().unwrap();
    assert_eq!(
        (history.ledger().total().requests, history.unknown().len()),
        (2, 0)
    );
    std::fs::remove_dir_all(journal.parent().unwrap()).unwrap();
}

/// The same after a deployment.
mod later {
    use super::{Refund, Shop, Stock};
    use llmnode::prelude::*;

    /// Sells, once somebody has said so.
    #[llm_node(system = "Be brief.", prompt = "Sell it now.", state = Shop, tools = [Stock, Refund], store = receipt)]
    pub(super) struct Return {}

    flow! { pub(super) Returns(Shop): Return => end }
}

#[tokio::test]
async fn a_pause_in_the_journal_is_decided_after_a_deployment() {
    let journal = journal("deployed");
    let effects = journal.with_extension("effects");
    let file = || JournalFile::open(&journal).unwrap();
    let run = |model: ScriptedModel| {
        Run::new(model).with_state(Shop {
            effects: effects.clone(),
            ..Shop::default()
        })
    };
    let first = ScriptedModel::new().reply(
        Reply::text("")
            .call("refund", json!({}))
            .call("stock", json!({})),
    );
    let paused = run(first)
        .flow(Returns)
        .resume(file())
        .await
        .unwrap_err()
        .paused()
        .unwrap();
    let second = ScriptedModel::new().reply("Returned.");
    let mut other = run(second.clone());
    let decided = paused.decide("call_1", Approval::yes()).unwrap();
    other
        .flow(later::Returns)
        .resume(file())
        .approve(decided)
        .await
        .unwrap();
    assert_eq!(
        super::library::results(&second.requests()[0]),
        ["refunded", "3"]
    );
    assert_eq!(
        (
            lines(&journal, "refund").len(),
            lines(&journal, "stock ").len()
        ),
        (1, 1)
    );
    std::fs::remove_dir_all(journal.parent().unwrap()).unwrap();
}

#[tokio::test]
async fn a_journal_without_answers_has_none() {
    let journal = journal("without");
    let effects = journal.with_extension("effects");
    let file = || JournalFile::open(&journal).unwrap().without_answers();
    let run = |model: ScriptedModel| {
        Run::new(model).with_state(Shop {
            effects: effects.clone(),
            ..Shop::default()
        })
    };
    let first = || {
        ScriptedModel::new().reply(
            Reply::text("")
                .call("refund", json!({}))
                .call("stock", json!({})),
        )
    };
    for _ in 0..2 {
        let error = run(first()).flow(Returns).resume(file()).await.unwrap_err();
        assert_eq!(error.category(), Category::Paused);
    }
    assert_eq!(
        lines(&journal, "stock ").len(),
        2,
        "it is asked and executed again"
    );
    assert!(
        !std::fs::read_to_string(&journal)
            .unwrap()
            .contains("tool_ended")
    );
    std::fs::remove_dir_all(journal.parent().unwrap()).unwrap();
}
