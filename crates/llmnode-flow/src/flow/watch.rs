//! The record of a running flow: its newest steps, and figures for all.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use llmnode_runtime::Category;
use llmnode_runtime::ext::{Position, RunEvent, StepRecord};

use super::outline::Outline;
use super::record::{FlowRecord, StepStats};

const REMEMBERED: usize = 256;

/// Watches a flow from outside, also after it failed or was dropped.
///
/// Clones watch the same flow. Another flow that is watched replaces it.
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::*; }
/// # use llmnode::flow::{RunExt, Flow, Step, EdgeTarget};
/// # use llmnode::{BoxError, Cx, Exec, Node, Run, ScriptedModel};
/// # struct Greet;
/// # impl Node for Greet { type Output = (); const NAME: &'static str = "greet"; }
/// # impl Exec<()> for Greet { async fn exec(&self, _: &Cx<'_, ()>) -> Result<(), BoxError> { Ok(()) } }
/// # impl Step<()> for Greet {
/// #     type Output = <Self as Node>::Output;
/// #     type Action = ();
/// #     async fn prep(_: &()) -> Result<Self, BoxError> { Ok(Greet) }
/// #     fn post(self, _: (), _: &mut ()) -> Result<(), BoxError> { Err("closed".into()) }
/// # }
/// # let flow = Flow::builder("greeting").step::<Greet>("Greet").then("Greet", EdgeTarget::End).build().unwrap();
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// use llmnode::flow::FlowWatch;
///
/// let mut run = Run::new(ScriptedModel::new());
/// let watch = FlowWatch::default();
/// let error = run.flow(&flow).watch(&watch).await.unwrap_err();
/// assert_eq!(error.to_string(), "Greet: aborted: post failed: closed");
///
/// let record = watch.record().unwrap();
/// assert_eq!((record.taken, record.steps[0].failures), (1, 1));
/// assert_eq!(watch.position().as_ref(), error.position());
/// # });
/// ```
///
#[derive(Clone, Debug, Default)]
pub struct FlowWatch(Arc<Mutex<Option<LiveRecord>>>);

impl FlowWatch {
    /// Returns what the flow has done so far. `None`: none has begun.
    pub fn record(&self) -> Option<FlowRecord> {
        self.lock().as_ref().map(LiveRecord::record)
    }

    /// Returns the position: the step that runs or is next. `None`: no flow has
    /// begun, or it has ended with an action.
    pub fn position(&self) -> Option<Position> {
        self.lock()
            .as_ref()
            .and_then(|live_record| live_record.position.clone())
    }

    pub(super) fn open(&self, outline: Outline, at: Position) {
        *self.lock() = Some(LiveRecord::new(outline, at));
    }

    pub(super) fn take(&self, event: &RunEvent<'_>) {
        if let Some(live_record) = &mut *self.lock() {
            live_record.take(event);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<LiveRecord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct LiveRecord {
    outline: Outline,
    position: Option<Position>,
    category: Option<Category>,
    elapsed: Duration,
    taken: u64,
    path: VecDeque<StepRecord>,
    steps: Vec<StepStats>,
    edges: Vec<(Position, String, u64)>,
    places: HashMap<Position, usize>,
    ways: HashMap<Position, HashMap<String, usize>>,
}

impl LiveRecord {
    fn new(outline: Outline, at: Position) -> Self {
        LiveRecord {
            outline,
            position: Some(at),
            category: None,
            elapsed: Duration::ZERO,
            taken: 0,
            path: VecDeque::new(),
            steps: Vec::new(),
            edges: Vec::new(),
            places: HashMap::new(),
            ways: HashMap::new(),
        }
    }

    pub(super) fn take(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::StepBegan { position, .. } => self.position = Some((*position).clone()),
            RunEvent::StepEnded {
                step,
                edges,
                next,
                flow_elapsed,
                ..
            } => {
                for (from, action) in *edges {
                    self.count_edge(from, action);
                }
                self.add((*step).clone());
                self.position = next.cloned();
                self.elapsed = *flow_elapsed;
            }
            RunEvent::FlowEnded {
                category, elapsed, ..
            } => {
                self.category = *category;
                self.elapsed = *elapsed;
            }
            _ => {}
        }
    }

    fn add(&mut self, step: StepRecord) {
        let index = match self.places.get(&step.position) {
            Some(index) => *index,
            None => {
                self.places.insert(step.position.clone(), self.steps.len());
                self.steps.push(StepStats::new(&step));
                self.steps.len() - 1
            }
        };
        if let Some(stats) = self.steps.get_mut(index) {
            stats.add(&step);
        }
        self.taken = self.taken.saturating_add(1);
        if self.path.len() == REMEMBERED {
            self.path.pop_front();
        }
        self.path.push_back(step);
    }

    /// Bounded by the edges of the flow: an action without an edge ends it before.
    fn count_edge(&mut self, from: &Position, action: &str) {
        let position = self
            .ways
            .get(from)
            .and_then(|actions| actions.get(action))
            .copied();
        let index = position.unwrap_or_else(|| {
            let index = self.edges.len();
            self.ways
                .entry(from.clone())
                .or_default()
                .insert(action.to_owned(), index);
            self.edges.push((from.clone(), action.to_owned(), 0));
            index
        });
        if let Some((_, _, times)) = self.edges.get_mut(index) {
            *times = times.saturating_add(1);
        }
    }

    fn record(&self) -> FlowRecord {
        FlowRecord {
            outline: self.outline.clone(),
            position: self.position.clone(),
            category: self.category,
            taken: self.taken,
            path: self.path.iter().cloned().collect(),
            steps: self.steps.clone(),
            edges: self.edges.clone(),
            elapsed: self.elapsed,
        }
    }
}

impl StepStats {
    fn new(step: &StepRecord) -> Self {
        StepStats {
            position: step.position.clone(),
            node: step.node.clone(),
            visits: 0,
            failures: 0,
            usage: Default::default(),
            asking: Duration::ZERO,
            elapsed: Duration::ZERO,
        }
    }

    fn add(&mut self, step: &StepRecord) {
        self.visits = self.visits.saturating_add(1);
        self.failures = self
            .failures
            .saturating_add(u64::from(step.category.is_some()));
        self.usage += step.usage;
        self.asking = self.asking.saturating_add(step.asking);
        self.elapsed = self.elapsed.saturating_add(step.elapsed);
    }
}
