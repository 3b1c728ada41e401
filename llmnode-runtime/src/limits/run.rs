//! The meters that the calls of a run share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use llmnode_model::internal::lock;
use llmnode_reader::text::plural;
use tokio::sync::Notify;

use super::limits::Limits;
use super::meter::Meter;
use super::prior_spend::{PriorSpend, Spending};
use super::prompt::Counted;
use super::refusal::Scope;
use crate::prices::Prices;

/// The limits of a run and of its nodes, with their counters. Clones share the
/// counters; setting a limit again resets its counter.
#[derive(Clone, Default)]
pub struct RunLimits {
    pub(super) run: Option<Arc<Meter>>,
    /// By the path of the node's type.
    nodes: HashMap<&'static str, Arc<Meter>>,
    /// By the name of a node, such as one that a graph has made.
    named: HashMap<String, Arc<Meter>>,
    /// For nodes that only attributes limit; made at their first call.
    by_attributes: Arc<Mutex<HashMap<&'static str, Arc<Meter>>>>,
    pub(crate) prices: Arc<Prices>,
    /// By the path of the node's type, for meters that are created later.
    prior_spend: Arc<Mutex<HashMap<String, Spending>>>,
    /// By model: what providers counted of prompts, compared with the estimates.
    pub(super) counted: Arc<Mutex<HashMap<String, Counted>>>,
    /// Told when the first request of a model passes, or leaves its place.
    pub(super) first_changed: Arc<Notify>,
    /// Held while a request reserves with all its meters or with none.
    pub(super) gate: Arc<Mutex<()>>,
    /// Nothing is limited, as in a run that only looks at prompts.
    pub(crate) ignored: bool,
}

/// What a node's type says of its limits.
#[derive(Clone, Copy)]
pub(crate) struct LimitedNode {
    pub(crate) path: &'static str,
    pub(crate) name: &'static str,
    pub(crate) limits: &'static Limits,
}

impl RunLimits {
    pub(crate) fn set(&mut self, limits: Limits) {
        self.run = Some(Arc::new(Meter::new(Scope::Run, limits)));
    }

    /// The limits of the run as phrases, such as `100 requests`.
    pub(crate) fn describe(&self) -> Vec<String> {
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
        let mut phrases = Vec::new();
        phrases.extend(requests.map(|most| plural(most, "request")));
        phrases.extend(tokens.map(|most| plural(most, "token")));
        phrases.extend(tool_calls.map(|most| plural(most, "tool call")));
        phrases.extend(money.map(|most| format!("a cost of {most}")));
        phrases.extend(time.map(|most| format!("{most:?}")));
        phrases
    }

    pub(crate) fn set_node(&mut self, node: LimitedNode, limits: Limits) {
        self.nodes
            .insert(node.path, node_meter(node.name, limits.or(*node.limits)));
    }

    pub(crate) fn set_named(&mut self, name: String, limits: Limits) {
        let meter = Arc::new(Meter::new(Scope::Named(name.clone()), limits));
        self.named.insert(name, meter);
    }

    pub(super) fn named(&self, name: &str) -> Option<Arc<Meter>> {
        self.named.get(name).cloned()
    }

    /// The meter of all calls of a node. What the program sets for it comes before
    /// what its attribute says.
    pub(super) fn node(&self, node: LimitedNode) -> Option<Arc<Meter>> {
        if let Some(meter) = self.nodes.get(node.path) {
            return Some(Arc::clone(meter));
        }
        if node.limits.is_empty() {
            return None;
        }
        let mut meters = lock(&self.by_attributes);
        let meter = meters.entry(node.path).or_insert_with(|| {
            let meter = node_meter(node.name, *node.limits);
            if let Some(spent) = lock(&self.prior_spend).get(node.path) {
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
            let set_by_program = self.nodes.get(&**path);
            let meter = set_by_program.or_else(|| by_attributes.get(&**path));
            if let Some(meter) = meter {
                meter.add_prior_spend(spent);
            }
            let sum = later.entry(path.clone()).or_default();
            *sum = std::mem::take(sum).and(spent);
        }
    }
}

fn node_meter(name: &'static str, limits: Limits) -> Arc<Meter> {
    Arc::new(Meter::new(Scope::Node(name), limits))
}
