//! Compiles a loaded graph into a flow.
//!
//! Each step is a node of the flow, each fork one node whose branches are flows of their own, each subgraph a flow within it. All
//! that could go wrong was found by the checks, so an error here is a mistake of this crate.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use llmnode_flow::flow::{CxExt, EdgeTarget, Flow, FlowBuilder, Outline, PreparedStep};
use llmnode_runtime::internal::ErrorInternals as _;
use llmnode_runtime::{BoxError, BoxFuture, Cx, Exec, Group, Node, NodeError};

use crate::check::{Fork, Next, Region, To as Target};
use crate::graph::loaded::{Graph, GraphStep, LoadedGraph};
use crate::graph::step::{DEFAULT, ERROR, Output, REJECTED, failure};
use crate::state::{Logged, State};

impl Graph {
    pub(crate) fn new(loaded: LoadedGraph, region: Region) -> Result<Graph, NodeError> {
        let loaded = Arc::new(loaded);
        let flow = flow(&loaded, &region, false)?;
        Ok(Graph {
            loaded,
            region: Arc::new(region),
            flow,
        })
    }

    /// The flow as a part of an outer one. `has_error_exit`: the outer graph has an edge for failures.
    pub(crate) fn flow_within(&self, has_error_exit: bool) -> Result<Flow<State>, NodeError> {
        if has_error_exit {
            flow(&self.loaded, &self.region, true)
        } else {
            Ok(self.flow.clone())
        }
    }

    /// The handles by which a run of this graph may end, with those of its subgraphs.
    pub(crate) fn ends(&self) -> BTreeSet<String> {
        let here: HashSet<usize> = self.region.nodes.iter().copied().collect();
        let mut ends = BTreeSet::from([DEFAULT.to_owned()]);
        for &node in &self.region.nodes {
            let loaded_node = &self.loaded.loaded_nodes[node];
            let within = loaded_node.subgraph.iter().flat_map(|graph| graph.ends());
            for handle in loaded_node.handles.iter().cloned().chain(within) {
                let stays = match self.region.next.get(&(node, handle.clone())) {
                    Some(Next::One(Target::Node(to))) => here.contains(to),
                    Some(Next::Fork(_)) => true,
                    Some(Next::One(Target::End)) | None => false,
                };
                if !stays {
                    ends.insert(handle);
                }
            }
        }
        ends
    }
}

/// `has_error_exit`: a failure without an edge leaves the flow by `error`, for the outer graph.
fn flow(
    loaded: &Arc<LoadedGraph>,
    region: &Region,
    has_error_exit: bool,
) -> Result<Flow<State>, NodeError> {
    FlowCompiler {
        loaded,
        has_error_exit,
    }
    .region(region, loaded.name.clone().into())
}

/// Where edges of a region lead. An edge out of it ends its flow.
struct RegionTargets<'r> {
    loaded: &'r LoadedGraph,
    region: &'r Region,
    nodes: HashSet<usize>,
    /// The labels of its forks.
    forks: Vec<String>,
}

impl RegionTargets<'_> {
    fn target(&self, target: Target) -> EdgeTarget {
        match target {
            Target::Node(node) if self.nodes.contains(&node) => {
                EdgeTarget::from(&*self.loaded.loaded_nodes[node].id)
            }
            _ => EdgeTarget::End,
        }
    }

    fn next(&self, node: usize, handle: &str) -> Option<EdgeTarget> {
        match self.region.next.get(&(node, handle.to_owned()))? {
            Next::One(target) => Some(self.target(*target)),
            Next::Fork(fork) => Some(EdgeTarget::from(&*self.forks[*fork])),
        }
    }
}

struct FlowCompiler<'c> {
    loaded: &'c Arc<LoadedGraph>,
    has_error_exit: bool,
}

impl FlowCompiler<'_> {
    /// A region as a flow: its nodes first, then its forks, each with all that its handles lead to.
    fn region(&self, region: &Region, name: Cow<'static, str>) -> Result<Flow<State>, NodeError> {
        let targets = RegionTargets {
            loaded: self.loaded,
            region,
            nodes: region.nodes.iter().copied().collect(),
            forks: region.forks.iter().map(|fork| self.label(fork)).collect(),
        };
        let mut flow = Flow::builder(name);
        for &node in &region.nodes {
            flow = self.with_node(flow, node, &targets)?;
        }
        for (fork, label) in region.forks.iter().zip(&targets.forks) {
            flow = self.with_fork(flow, fork, label, &targets)?;
        }
        flow.build()
    }

    fn with_node(
        &self,
        mut flow: FlowBuilder<State>,
        node: usize,
        targets: &RegionTargets<'_>,
    ) -> Result<FlowBuilder<State>, NodeError> {
        let loaded_node = &self.loaded.loaded_nodes[node];
        let ways = self.ways(node, targets);
        let id = loaded_node.id.clone();
        if let Some(graph) = &loaded_node.subgraph {
            let has_error_edge = targets.next(node, ERROR).is_some();
            let inner = graph.flow_within(has_error_edge || self.has_error_exit)?;
            flow = flow.flow(id.clone(), &inner);
        } else {
            let loaded = Arc::clone(self.loaded);
            let catches = loaded_node.error_edge || self.has_error_exit;
            let actions: Vec<String> = ways.iter().map(|(handle, _)| handle.clone()).collect();
            let kind = loaded_node.kind.clone();
            flow = flow.made(id.clone(), kind, actions, move |_: &State| {
                Ok(GraphStep {
                    loaded: Arc::clone(&loaded),
                    at: node,
                    callers: Vec::new(),
                    catches,
                })
            });
        }
        for (handle, to) in ways {
            flow = flow.on(id.clone(), handle, to);
        }
        Ok(flow)
    }

    fn with_fork(
        &self,
        flow: FlowBuilder<State>,
        fork: &Fork,
        label: &str,
        targets: &RegionTargets<'_>,
    ) -> Result<FlowBuilder<State>, NodeError> {
        let mut branches = Vec::with_capacity(fork.branches.len());
        for branch in &fork.branches {
            let name = self.loaded.loaded_nodes[branch.entry].id.clone();
            branches.push(self.region(branch, name.into())?);
        }
        let outline = Outline::Parallel(branches.iter().map(Flow::outline).collect());
        let step = ForkStep {
            loaded: Arc::clone(self.loaded),
            label: label.to_owned(),
            branches: branches.into(),
            catches: self.has_error_exit,
        };
        let actions = if self.has_error_exit {
            &[DEFAULT, ERROR][..]
        } else {
            &[DEFAULT]
        };
        let flow = flow.made(label, outline, actions.iter().copied(), move |_: &State| {
            Ok(step.clone())
        });
        let flow = flow.on(label, DEFAULT, targets.target(fork.join));
        if !self.has_error_exit {
            return Ok(flow);
        }
        Ok(flow.on(label, ERROR, EdgeTarget::End))
    }

    /// Where the handles of a node lead. One without an edge ends the flow, but for those that fail or refuse.
    fn ways(&self, node: usize, targets: &RegionTargets<'_>) -> Vec<(String, EdgeTarget)> {
        let loaded_node = &self.loaded.loaded_nodes[node];
        let mut ways: Vec<(String, EdgeTarget)> = Vec::new();
        for handle in &loaded_node.handles {
            let ends = match &**handle {
                ERROR => self.has_error_exit,
                handle => handle != REJECTED,
            };
            let to = targets
                .next(node, handle)
                .or_else(|| ends.then_some(EdgeTarget::End));
            ways.extend(to.map(|to| (handle.clone(), to)));
        }
        // A subgraph may end with a handle that this graph does not name.
        if let Some(graph) = &loaded_node.subgraph {
            let onward = targets.next(node, DEFAULT).unwrap_or(EdgeTarget::End);
            let named: HashSet<String> = ways.iter().map(|(handle, _)| handle.clone()).collect();
            for end in graph.ends() {
                if !named.contains(&end) {
                    ways.push((end, onward.clone()));
                }
            }
        }
        ways
    }

    /// The heads of its branches. Another node may have that for its id.
    fn label(&self, fork: &Fork) -> String {
        let heads = fork
            .branches
            .iter()
            .map(|branch| self.loaded.loaded_nodes[branch.entry].id.as_str());
        let label = heads.collect::<Vec<_>>().join(" & ");
        if self.loaded.ids.contains_key(&label) {
            return format!(
                "{label} (from {} by {})",
                self.loaded.loaded_nodes[fork.from].id, fork.handle
            );
        }
        label
    }
}

/// Branches run concurrently as one step, each on a copy of the state. After the last, their writes are applied in the
/// order of the edges. The first error cancels the others, and nothing is written.
#[derive(Clone)]
struct ForkStep {
    loaded: Arc<LoadedGraph>,
    label: String,
    branches: Arc<[Flow<State>]>,
    catches: bool,
}

impl Node for ForkStep {
    type Output = Output;
    const NAME: &'static str = "fork";

    fn name(&self) -> Cow<'static, str> {
        Cow::Owned(self.label.clone())
    }
}

impl Exec<State> for ForkStep {
    async fn exec(&self, cx: &Cx<'_, State>) -> Result<Output, BoxError> {
        let branches = self
            .branches
            .iter()
            .map(|branch| cx.flow(branch, cx.state().branch()))
            .collect();
        let (writes, action) = match all(branches).await {
            Ok(ends) => (
                ends.into_iter()
                    .flat_map(|(state, _)| state.into_log())
                    .collect(),
                DEFAULT,
            ),
            Err(error) => {
                let error = NodeError::of_execution(error.into());
                if !self.catches || error.category().group() == Group::Stop {
                    return Err(error.into());
                }
                (
                    vec![Logged {
                        from: self.label.clone(),
                        update: failure(&self.label, &error),
                    }],
                    ERROR,
                )
            }
        };
        Ok(Output {
            writes,
            action: action.into(),
            ..Output::default()
        })
    }
}

impl PreparedStep<State> for ForkStep {
    type Action = String;

    fn post(self, output: Output, state: &mut State) -> Result<String, BoxError> {
        output.write(&self.label, &self.loaded, state)
    }
}

/// Polls in the order of the branches, so that the first of simultaneous failures counts. From 31 futures on,
/// `try_join_all` reports an error only after all earlier ones.
async fn all<T>(
    mut futures: Vec<BoxFuture<'_, Result<T, NodeError>>>,
) -> Result<Vec<T>, NodeError> {
    let mut ended: Vec<Option<Result<T, NodeError>>> = futures.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (future, ended) in futures
            .iter_mut()
            .zip(&mut ended)
            .filter(|(_, ended)| ended.is_none())
        {
            if let Poll::Ready(result) = future.as_mut().poll(cx) {
                *ended = Some(result);
            }
        }
        let is_over = ended.iter().any(|one| matches!(one, Some(Err(_))))
            || ended.iter().all(Option::is_some);
        if is_over {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    ended.into_iter().flatten().collect()
}
