//! What an earlier process ordered and no request of the map asked for, as after a changed prompt or a call that was given up: a warning says what it costs.
//!
//! The batch stays open in the journal and keeps its files, so that a program whose prompt is as before finds what it paid for.

use std::collections::HashSet;
use std::sync::Arc;

use llmnode_model::batch::{BatchWire, LineResponse, LineResult};
use llmnode_model::{Request, Sink, TokenUsage};

use crate::ledger::JournaledBatch;
use crate::prices::{PriceTier, Prices};

/// Lines of a batch that nobody asked for.
pub(super) struct Unused {
    pub(super) batch: JournaledBatch,
    pub(super) lines: HashSet<String>,
    /// By which it can be looked at. `None`: no request of the map goes there.
    pub(super) wire: Option<Arc<dyn BatchWire>>,
}

/// What answers used.
#[derive(Default)]
struct Used {
    answers: usize,
    tokens: u64,
    /// `None`: of one of them it is not known.
    cost: Option<f64>,
}

/// Says how many lines there are, and what they cost as far as the batch has ended.
pub(super) async fn warn_of_unused(mut unused: Unused, prices: &Prices) {
    let used = used(&mut unused, prices).await;
    let Unused { batch, .. } = unused;
    let lines = batch.lines.len();
    let name = batch.batch.as_deref().unwrap_or(&batch.name);
    let Some(used) = used else {
        tracing::warn!(
            target: "llmnode::journal", batch = name, lines,
            "the batch {name:?} in the journal has {lines} lines that no request of the map matches, as after a changed prompt or a call \
             that was given up; they are \
             paid for when they are answered"
        );
        return;
    };
    let Used {
        answers, tokens, ..
    } = used;
    let cost = match used.cost {
        Some(cost) => format!("cost {cost}"),
        None => "are of unknown cost".to_owned(),
    };
    tracing::warn!(
        target: "llmnode::journal", batch = name, lines, answers, tokens, cost = used.cost,
        "the batch {name:?} in the journal has {lines} lines that no request of the map matches, as after a changed prompt or a call \
         that was given up; {answers} \
         of them were answered, took {tokens} tokens, and {cost}"
    );
}

/// `None`: it has not ended, or cannot be read.
async fn used(unused: &mut Unused, prices: &Prices) -> Option<Used> {
    let wire = unused.wire.as_ref()?;
    let status = wire.poll(unused.batch.batch.as_deref()?).await.ok()?;
    if !status.has_ended {
        return None;
    }
    let prices = prices.in_tier(PriceTier::Batch);
    let mut results = wire.results(&status).await.ok()?;
    let mut used = Used {
        cost: Some(0.0),
        ..Used::default()
    };
    while let Some((line, result)) = results.next().await.ok()? {
        // One that comes twice was paid for once.
        let is_meant = unused.lines.remove(&line);
        let LineResult::Response(response) = result else {
            continue;
        };
        if !is_meant || !(200..300).contains(&response.status) {
            continue;
        }
        let usage = usage(&**wire, response);
        let tokens = usage.and_then(|usage| usage.total());
        let cost = usage.and_then(|usage| prices.cost(&unused.batch.model, &usage));
        used.answers += 1;
        used.tokens += tokens.unwrap_or(0);
        used.cost = used.cost.zip(cost).map(|(sum, cost)| sum + cost);
    }
    Some(used)
}

/// The request is not known any more, but what it used stands in the response alone.
fn usage(wire: &dyn BatchWire, response: LineResponse) -> Option<TokenUsage> {
    let mut last = LastUsage { usage: None };
    let outcome = wire.answer(&Request::new(Vec::new()), response, &mut last);
    let of_answer = outcome.ok().and_then(|completion| completion.usage);
    last.usage.or(of_answer)
}

struct LastUsage {
    usage: Option<TokenUsage>,
}

impl Sink for LastUsage {
    fn request_id(&mut self, _id: &str) {}

    fn usage(&mut self, usage: TokenUsage) {
        self.usage = Some(usage);
    }
}
