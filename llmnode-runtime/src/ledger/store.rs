//! The ledger of a run: figures per node, and the records of its last calls.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use llmnode_model::CallId;
use llmnode_model::internal::{Ids, lock};

use super::milliseconds;
use super::record::{AttemptRecord, CallRecord};
use super::snapshot::{LedgerSnapshot, NodeStats};
use super::usage::Usage;

/// How many of the last calls are kept with their attempts, unless the program says another number.
const REMEMBERED: usize = 256;

/// Further names made at run time share their figures, so that the ledger stays small.
const NAMES: usize = 1000;

/// A handle to the ledger of a run. Clones read the same ledger, also while calls run.
///
/// Each attempt is committed as it ends: on success, failure, panic and drop. The
/// ledger grows with the number of node types, not with the number of calls. After
/// 1000 names, new names that are known only at run time count under the name of
/// their type.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{NodeError, Run, ScriptedModel};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let run = Run::new(ScriptedModel::new().reply("7").reply("8"));
/// let ledger = run.ledger();
/// run.extract::<u8>("seven").await?;
/// run.extract::<u8>("eight").await?;
/// println!("{}", ledger.total()); // 2 requests, 84 tokens
/// assert_eq!((ledger.total().requests, ledger.calls().len()), (2, 2));
///
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct Ledger(Arc<Mutex<Store>>);

#[derive(Clone, Copy)]
pub(super) struct Slot(usize);

/// A node's type, identified by its path, since two types may have the same name.
#[derive(Clone)]
pub struct NodeKey {
    /// The path of its type.
    pub path: Cow<'static, str>,
    pub(super) type_name: Cow<'static, str>,
    /// Its name in ledgers and errors.
    pub name: Cow<'static, str>,
}

impl PartialEq for NodeKey {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.name == other.name
    }
}

impl Eq for NodeKey {}

impl NodeKey {
    pub(crate) fn new(
        path: &'static str,
        type_name: &'static str,
        name: Cow<'static, str>,
    ) -> Self {
        NodeKey {
            path: path.into(),
            type_name: type_name.into(),
            name,
        }
    }

    fn of_type(&self) -> Self {
        NodeKey {
            name: self.type_name.clone(),
            ..self.clone()
        }
    }
}

/// By the name first: paths are long, and few types share a name.
impl Ord for NodeKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name
            .cmp(&other.name)
            .then_with(|| self.path.cmp(&other.path))
    }
}

impl PartialOrd for NodeKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What a ledger has. Figures are added to a slot, by its index: the name of a node
/// is looked up once for each call.
pub(super) struct Store {
    pub(super) ids: Ids,
    pub(super) stats: Vec<(NodeKey, NodeStats)>,
    slots: BTreeMap<NodeKey, Slot>,
    /// Up to which record each journal was imported, so that none counts twice.
    pub(super) journals: HashMap<String, u64>,
    pub(super) calls: VecDeque<Arc<CallRecord>>,
    remembered: usize,
    prices_made: Option<String>,
}

impl Default for Store {
    fn default() -> Self {
        Store {
            ids: Ids::default(),
            stats: Vec::new(),
            slots: BTreeMap::new(),
            journals: HashMap::new(),
            calls: VecDeque::new(),
            remembered: REMEMBERED,
            prices_made: None,
        }
    }
}

impl Ledger {
    pub(crate) fn of_path(&self, path: &str) -> Option<NodeStats> {
        let store = self.lock();
        let named = store.stats.iter().filter(|(node, _)| node.path == path);
        named.map(|(_, stats)| *stats).reduce(NodeStats::and)
    }

    /// Returns the figures of all nodes together.
    pub fn total(&self) -> Usage {
        let mut total = Usage::default();
        self.lock()
            .stats
            .iter()
            .for_each(|(_, stats)| total.merge(&stats.usage));
        total
    }

    /// Returns the last calls that have ended, oldest first: 256 by default, see
    /// [`remember`](Ledger::remember).
    pub fn calls(&self) -> Vec<Arc<CallRecord>> {
        self.lock().calls.iter().cloned().collect()
    }

    /// Sets how many calls the ledger keeps with their attempts.
    pub fn remember(&self, calls: usize) {
        let mut store = self.lock();
        store.remembered = calls;
        store.trim();
    }

    /// Returns the known tokens by node name. A node whose requests reported
    /// nothing is left out, since unknown is not zero. Two types with the same name
    /// are distinguished by their module.
    pub fn tokens_used(&self) -> BTreeMap<String, u64> {
        self.figures(|stats| {
            let total = stats.usage.total;
            (total.known > 0 || total.unreported_calls == 0).then_some(total.known)
        })
    }

    /// Returns the milliseconds spent by node name. Two types with the same name
    /// are distinguished by their module.
    pub fn time_ms(&self) -> BTreeMap<String, u64> {
        self.figures(|stats| Some(milliseconds::whole(stats.busy)))
    }

    /// Returns the ledger at this moment, which can be written as JSON and read back.
    pub fn snapshot(&self) -> LedgerSnapshot {
        let calls = self.calls();
        // One lock for all figures: the total is the sum of the nodes even while calls run.
        let nodes = self.by_name();
        LedgerSnapshot::new(nodes, calls, self.lock().prices_made.clone())
    }

    pub(crate) fn set_prices_made(&self, date: Option<&str>) {
        self.lock().prices_made = date.map(str::to_owned);
    }

    /// Returns the ledger as JSON, without prompts, answers and violations: the
    /// [`snapshot`](Ledger::snapshot), serialized.
    // Compiled only in a program that calls it: what serde makes for records is a
    // large part of the crate.
    #[inline]
    pub fn to_json(&self) -> serde_json::Value {
        // Keys are strings and numbers are finite, so this cannot fail.
        serde_json::to_value(self.snapshot()).unwrap_or_default()
    }

    /// Counts the call, and returns where its figures are added.
    pub(super) fn begin_call(&self, node: &NodeKey) -> (CallId, Slot) {
        let mut store = self.lock();
        let slot = store.slot(node);
        store.stats(slot).visits += 1;
        (store.ids.next(), slot)
    }

    pub(super) fn add_attempt(&self, slot: Slot, attempt: &AttemptRecord, busy: Duration) {
        let mut store = self.lock();
        let stats = store.stats(slot);
        stats.usage.add(attempt);
        stats.busy = stats.busy.saturating_add(busy);
    }

    pub(super) fn end_call(&self, slot: Slot, busy: Duration, record: Arc<CallRecord>) {
        let mut store = self.lock();
        let stats = store.stats(slot);
        stats.busy = stats.busy.saturating_add(busy);
        stats.used_fallback += u64::from(record.used_fallback.is_some());
        store.push(record);
    }

    fn figures(&self, figure: fn(&NodeStats) -> Option<u64>) -> BTreeMap<String, u64> {
        let mut figures = BTreeMap::new();
        for (name, stats) in self.by_name() {
            if let Some(figure) = figure(&stats) {
                figures.insert(name, figure);
            }
        }
        figures
    }

    /// The figures by names that people can tell apart.
    fn by_name(&self) -> BTreeMap<String, NodeStats> {
        let store = self.lock();
        let mut types: HashMap<&str, usize> = HashMap::new();
        store
            .stats
            .iter()
            .for_each(|(node, _)| *types.entry(&node.name).or_default() += 1);
        let mut named: BTreeMap<String, NodeStats> = BTreeMap::new();
        for (node, stats) in &store.stats {
            let name = match types.get(&*node.name) {
                Some(1) => node.name.to_string(),
                _ => format!("{} ({})", node.name, node.path),
            };
            // A name made at run time may be any text, even `name (path)` of another node.
            let same = named.entry(name).or_default();
            *same = same.and(*stats);
        }
        named
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Store> {
        lock(&self.0)
    }
}

impl Store {
    fn slot(&mut self, node: &NodeKey) -> Slot {
        if let Some(slot) = self.slots.get(node) {
            return *slot;
        }
        let has_room = self.stats.len() < NAMES || node.name == node.type_name;
        let key = if has_room {
            node.clone()
        } else {
            node.of_type()
        };
        *self.slots.entry(key).or_insert_with_key(|key| {
            self.stats.push((key.clone(), NodeStats::default()));
            Slot(self.stats.len() - 1)
        })
    }

    fn stats(&mut self, Slot(index): Slot) -> &mut NodeStats {
        // Nodes are never removed, so each slot that was handed out is valid.
        &mut self.stats[index].1
    }

    pub(super) fn add(&mut self, node: &NodeKey, stats: NodeStats) {
        let slot = self.slot(node);
        let entry = self.stats(slot);
        *entry = entry.and(stats);
    }

    pub(super) fn push(&mut self, record: Arc<CallRecord>) {
        self.calls.push_back(record);
        self.trim();
    }

    fn trim(&mut self) {
        while self.calls.len() > self.remembered {
            self.calls.pop_front();
        }
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.by_name()).finish()
    }
}
