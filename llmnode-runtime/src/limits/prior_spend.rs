//! What a run had spent in earlier processes.
//!
//! A journal tells it attempt by attempt; it is summed up here by scope, and added
//! to the meters before the first request. Prices are those of today: a journal
//! holds usage, and a cost only where the program that wrote it had a price.

use std::collections::HashMap;
use std::sync::Arc;

use llmnode_model::{Category, TokenUsage};
use llmnode_reader::Flag;

use super::refusal::Unknown;
use crate::ledger::{AttemptRecord, Estimate, NodeKey};
use crate::money::Money;
use crate::prices::{Price, PriceTier, Prices};

/// What was spent on a flow or a map before it continues: in all, by the path of
/// the node's type, and by its name.
#[derive(Default)]
pub struct PriorSpend {
    prices: Arc<Prices>,
    /// Includes what this process spent: the limits of a flow or a map start again
    /// with each run of it.
    pub(super) all: Spending,
    /// This and the following are without what this process spent: the meters of
    /// the run have counted that themselves.
    pub(super) run: Spending,
    /// By the path of the node's type.
    pub(super) nodes: HashMap<String, Spending>,
    /// By the node's name.
    pub(super) names: HashMap<String, Spending>,
    /// Of `all`, what answers of batches used that have reported it.
    pub(super) of_batches: Spending,
}

#[derive(Clone, Default)]
pub(super) struct Spending {
    pub(super) requests: u128,
    pub(super) tokens: u128,
    pub(super) money: Money,
    pub(super) unknown_money: Option<Unknown>,
    pub(super) tool_calls: u64,
}

impl PriorSpend {
    pub(super) fn new(prices: Arc<Prices>) -> Self {
        PriorSpend {
            prices,
            ..PriorSpend::default()
        }
    }

    /// Adds an attempt of another process, or of this one. If it did not report its
    /// usage, its estimate counts, unless the provider answered with an error or
    /// there was no connection.
    pub fn add(&mut self, node: &NodeKey, attempt: &AttemptRecord, by_this_process: bool) {
        if attempt.unsent {
            return;
        }
        let usage = attempt.usage.unwrap_or_default();
        let has_begun = attempt.finish_reason.is_some()
            || attempt.usage.is_some()
            || attempt
                .estimate
                .is_some_and(|estimate| estimate.output.is_some());
        let refused = !has_begun && attempt.category.is_some_and(Category::counts_no_tokens);
        let estimate = attempt.estimate.filter(|_| !refused).unwrap_or_default();
        let tier = match attempt.batch {
            Some(_) => PriceTier::Batch,
            None => PriceTier::Standard,
        };
        let price = attempt
            .model
            .as_deref()
            .and_then(|model| self.prices.in_tier(tier).of(model));
        // The record of an answer lacks the name that was asked for, whose price
        // may be the one that counts.
        let cost = attempt.cost.and_then(Money::from_f64);
        let one = Spending {
            requests: 1,
            tokens: usage.total().unwrap_or(estimate.total()).into(),
            money: cost
                .or_else(|| Some(cost_of(price?, &usage, estimate)))
                .unwrap_or_default(),
            unknown_money: match (&attempt.model, price) {
                _ if cost.is_some() => None,
                _ if attempt.flags.contains(&Flag::OtherPrice) => Some(Unknown::OtherPrice),
                (Some(model), None) => Some(Unknown::price_in(tier, model, self.prices.made())),
                (Some(model), Some(price))
                    if usage.total().is_some() && price.of(&usage).is_none() =>
                {
                    Some(Unknown::cost(model, price, &usage))
                }
                (None, _) if attempt.finish_reason.is_some() => Some(Unknown::Model),
                _ => None,
            },
            tool_calls: 0,
        };
        if attempt.batch.is_some() && usage.total().is_some() {
            self.of_batches.add(&one);
        }
        self.spent(node, &one, by_this_process);
    }

    /// Adds a tool that was executed.
    pub fn add_tool(&mut self, node: &NodeKey, by_this_process: bool) {
        let one = Spending {
            tool_calls: 1,
            ..Spending::default()
        };
        self.spent(node, &one, by_this_process);
    }

    fn spent(&mut self, node: &NodeKey, one: &Spending, by_this_process: bool) {
        self.all.add(one);
        if !by_this_process {
            self.run.add(one);
            add(&mut self.nodes, &node.path, one);
            add(&mut self.names, &node.name, one);
        }
    }
}

/// By what the provider reported, or by what was estimated where its report is not enough.
fn cost_of(price: &Price, usage: &TokenUsage, estimate: Estimate) -> Money {
    price
        .of(usage)
        .unwrap_or_else(|| price.of_tokens(estimate.input, estimate.output.unwrap_or(0)))
}

fn add(to: &mut HashMap<String, Spending>, key: &str, one: &Spending) {
    match to.get_mut(key) {
        Some(spent) => spent.add(one),
        None => drop(to.insert(key.to_owned(), one.clone())),
    }
}

impl Spending {
    fn add(&mut self, other: &Spending) {
        self.requests = self.requests.saturating_add(other.requests);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.money = self.money.plus(other.money);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.unknown_money = self
            .unknown_money
            .take()
            .or_else(|| other.unknown_money.clone());
    }

    pub(super) fn and(mut self, other: &Spending) -> Self {
        self.add(other);
        self
    }
}
