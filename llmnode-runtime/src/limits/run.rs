//! The meters that the calls of a run share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use llmnode_model::internal::lock;
use llmnode_reader::internal::plural;
use tokio::sync::Notify;

use super::limits::Limits;
use super::meter::Meter;
use super::prior_spend::{PriorSpend, Spending};
use super::prompt::Counted;
use super::refusal::Scope;
use crate::prices::Prices;

/// The limits of a run and of its nodes, with their counters. Clones share the counters; setting a limit again resets its
/// counter.
#[derive(Clone, Default)]
pub struct RunLimits {
    pub(super) run: Option<Arc<Meter>>,
    nodes: HashMap<&'static str, Arc<Meter>>,
    named: HashMap<String, Arc<Meter>>,
    /// For nodes that only attributes limit; made at their first call.
    by_attributes: Arc<Mutex<HashMap<&'static str, Arc<Meter>>>>,
    pub(crate) prices: Arc<Prices>,
    /// By the path of the node's type, for meters that are created later.
    prior_spend: Arc<Mutex<HashMap<String, Spending>>>,
    pub(super) counted: Arc<Mutex<HashMap<String, Counted>>>,
    /// Told when the first request of a model passes, or leaves its place.
    pub(super) first_changed: Arc<Notify>,
    /// Held while a request reserves with all its meters or with none.
    pub(super) gate: Arc<Mutex<()>>,
    pub(crate) ignored: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct LimitedNode {
    pub(crate) path: &'static str,
    pub(crate) name: &'static str,
    pub(crate) limits: Limits,
}

impl RunLimits {
    pub(crate) fn set(&mut self, limits: Limits) {
        self.run = Some(Arc::new(Meter::new(Scope::Run, limits)));
    }

    pub(crate) fn in_words(&self) -> Vec<String> {
        let Some(meter) = &self.run else {
            return Vec::new();
        };
        let Limits {
            requests,
            tokens,
            money,
            tool_calls,
            time,
        } = meter.limits;
        let counts = [
            (requests, "request"),
            (tokens, "token"),
            (tool_calls, "tool call"),
        ];
        let counts = counts
            .into_iter()
            .filter_map(|(most, one)| Some(plural(most?, one)));
        let money = money.map(|money| format!("a cost of {money}"));
        counts
            .chain(money)
            .chain(time.map(|time| format!("{time:?}")))
            .collect()
    }

    pub(crate) fn set_node(&mut self, node: LimitedNode, limits: Limits) {
        self.nodes
            .insert(node.path, node_meter(node.name, limits.or(node.limits)));
    }

    pub(crate) fn set_named(&mut self, name: String, limits: Limits) {
        let meter = Arc::new(Meter::new(Scope::Named(name.clone()), limits));
        self.named.insert(name, meter);
    }

    pub(super) fn named(&self, name: &str) -> Option<Arc<Meter>> {
        self.named.get(name).cloned()
    }

    pub(super) fn node(
        &self,
        LimitedNode { path, name, limits }: LimitedNode,
    ) -> Option<Arc<Meter>> {
        if let Some(meter) = self.nodes.get(path) {
            return Some(Arc::clone(meter));
        }
        if limits.is_empty() {
            return None;
        }
        let mut meters = lock(&self.by_attributes);
        let meter = meters.entry(path).or_insert_with(|| {
            let meter = node_meter(name, limits);
            if let Some(spent) = lock(&self.prior_spend).get(path) {
                meter.add_prior_spend(spent);
            }
            meter
        });
        Some(Arc::clone(meter))
    }

    /// Returns an empty sum for what earlier processes spent.
    pub fn new_prior_spend(&self) -> PriorSpend {
        PriorSpend::new(Arc::clone(&self.prices))
    }

    /// Counts what earlier processes spent.
    pub fn add_prior_spend(&self, prior_spend: &PriorSpend) {
        if let Some(run) = &self.run {
            run.add_prior_spend(&prior_spend.run);
        }
        for (name, spent) in &prior_spend.names {
            if let Some(meter) = self.named.get(name) {
                meter.add_prior_spend(spent);
            }
        }
        let by_attributes = lock(&self.by_attributes);
        let mut later = lock(&self.prior_spend);
        for (path, spent) in &prior_spend.nodes {
            if let Some(meter) = self
                .nodes
                .get(&**path)
                .or_else(|| by_attributes.get(&**path))
            {
                meter.add_prior_spend(spent);
            }
            let known = later.entry(path.clone()).or_default();
            *known = std::mem::take(known).and(spent);
        }
    }
}

fn node_meter(name: &'static str, limits: Limits) -> Arc<Meter> {
    Arc::new(Meter::new(Scope::Node(name), limits))
}
