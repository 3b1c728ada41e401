//! What an earlier process ordered and no request of the map asked for, as after a changed prompt or a call that was given up: a
//! warning says what it costs.
//!
//! The batch stays open in the journal and keeps its files, so that a program whose prompt is as before finds what it paid for. As
//! soon as there is nothing to find, since no such line was answered or the provider keeps results no longer, its end is noted.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use llmnode_model::batch::{BatchWire, LineResponse, LineResult};
use llmnode_model::{Category, ModelError, Request, Sink, TokenUsage};

use crate::ledger::JournaledBatch;
use crate::prices::{PriceTier, Prices};

/// OpenAI keeps results for 30 days at most, and Anthropic for 29.
const LONGEST_KEPT: Duration = Duration::from_secs(31 * 24 * 3_600);

/// Lines of a batch that nobody asked for.
pub(super) struct Unused {
    pub(super) batch: JournaledBatch,
    pub(super) lines: HashSet<String>,
    /// By which it can be looked at. `None`: no request of the map goes there.
    pub(super) wire: Option<Arc<dyn BatchWire>>,
    /// Whether nobody asked for a line of the batch. What was asked for may not have been read yet.
    pub(super) is_whole: bool,
    /// Of the batch, once it was looked at.
    pub(super) files: Vec<String>,
}

/// What is known of such lines.
enum Found {
    /// The batch has not ended, or cannot be read.
    Unknown,
    Answers(Used),
    /// Nothing of them was answered, or the answers are gone: no later process can find anything.
    Nothing,
}

/// What answers used.
#[derive(Default)]
struct Used {
    answers: usize,
    tokens: u64,
    /// `None`: of one of them it is not known.
    cost: Option<f64>,
}

/// Says how many lines there are, and what they cost as far as the batch has ended. Returns whether a later process may find their
/// answers, so that the journal has to keep the batch.
pub(super) async fn warn_of_unused(unused: &mut Unused, prices: &Prices) -> bool {
    let found = find_answers(unused, prices).await;
    let batch = &unused.batch;
    let lines = batch.lines.len();
    let name = batch.batch.as_deref().unwrap_or(&batch.name);
    match found {
        Found::Nothing => false,
        Found::Unknown => {
            tracing::warn!(
                target: "llmnode::journal", batch = name, lines,
                "the batch {name:?} in the journal has {lines} lines that no request of the map matches, as after a changed prompt or a \
                 call that was given up; they are paid for when they are answered"
            );
            true
        }
        Found::Answers(used) => {
            let Used {
                answers, tokens, ..
            } = used;
            let cost = match used.cost {
                Some(cost) => format!("cost {cost}"),
                None => "are of unknown cost".to_owned(),
            };
            tracing::warn!(
                target: "llmnode::journal", batch = name, lines, answers, tokens, cost = used.cost,
                "the batch {name:?} in the journal has {lines} lines that no request of the map matches, as after a changed prompt or a \
                 call that was given up; {answers} of them were answered, took {tokens} tokens, and {cost}"
            );
            true
        }
    }
}

async fn find_answers(unused: &mut Unused, prices: &Prices) -> Found {
    match used(unused, prices).await {
        Ok(Some(used)) if used.answers == 0 => Found::Nothing,
        Ok(Some(used)) => Found::Answers(used),
        Err(error) if is_gone(&error, unused.batch.created.or(unused.batch.planned)) => {
            Found::Nothing
        }
        Ok(None) | Err(_) => Found::Unknown,
    }
}

/// Another key does not find a batch either. So only one that is older than any provider keeps results is taken for gone.
fn is_gone(error: &ModelError, created: Option<SystemTime>) -> bool {
    let age = created.and_then(|created| created.elapsed().ok());
    error.category == Category::NotFound && age.is_some_and(|age| age > LONGEST_KEPT)
}

/// `None`: it has not ended, or nobody can say.
async fn used(unused: &mut Unused, prices: &Prices) -> Result<Option<Used>, ModelError> {
    let (Some(wire), Some(id)) = (&unused.wire, &unused.batch.batch) else {
        return Ok(None);
    };
    let status = wire.poll(id).await?;
    if !status.has_ended {
        return Ok(None);
    }
    unused.files.clone_from(&status.files);
    let prices = prices.in_tier(PriceTier::Batch);
    let mut results = wire.results(&status).await?;
    let mut used = Used {
        cost: Some(0.0),
        ..Used::default()
    };
    while let Some((line, result)) = results.next().await? {
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
        used.tokens = used.tokens.saturating_add(tokens.unwrap_or(0));
        used.cost = used.cost.zip(cost).map(|(sum, cost)| sum + cost);
    }
    Ok(Some(used))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_another_key_does_not_find_is_not_gone() {
        let missing = ModelError::new(Category::NotFound, "no such batch");
        let away = ModelError::new(Category::Network, "nobody answers");
        let day = Duration::from_secs(24 * 3_600);
        for (days, error, expected) in [
            (1, &missing, false),
            (32, &missing, true),
            (32, &away, false),
        ] {
            let created = SystemTime::now().checked_sub(day * days);
            assert_eq!(is_gone(error, created), expected, "{days} {error}");
        }
        assert!(!is_gone(&missing, None));
    }
}
