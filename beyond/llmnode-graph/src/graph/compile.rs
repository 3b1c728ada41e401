//! Compiles a loaded graph into a flow.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use llmnode_flow::flow::{CxExt, EdgeTarget, Flow, Outline, PreparedStep};
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

    pub(crate) fn flow_within(&self, has_error_exit: bool) -> Result<Flow<State>, NodeError> {
        if has_error_exit {
            flow(&self.loaded, &self.region, true)
        } else {
            Ok(self.flow.clone())
        }
    }

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

struct FlowCompiler<'c> {
    loaded: &'c Arc<LoadedGraph>,
    has_error_exit: bool,
}

impl FlowCompiler<'_> {
    fn region(&self, region: &Region, name: Cow<'static, str>) -> Result<Flow<State>, NodeError> {
        let here: HashSet<usize> = region.nodes.iter().copied().collect();
        let label = |target: Target| match target {
            Target::Node(node) if here.contains(&node) => {
                EdgeTarget::from(&*self.loaded.loaded_nodes[node].id)
            }
            _ => EdgeTarget::End,
        };
        let forks: Vec<String> = region.forks.iter().map(|fork| self.label(fork)).collect();
        let mut flow = Flow::builder(name);
        for &node in &region.nodes {
            let loaded_node = &self.loaded.loaded_nodes[node];
            let next = |handle: &str| match region.next.get(&(node, handle.to_owned())) {
                Some(Next::One(target)) => Some(label(*target)),
                Some(Next::Fork(fork)) => Some(EdgeTarget::from(&*forks[*fork])),
                None => None,
            };
            let ways = self.ways(node, &next);
            let id = loaded_node.id.clone();
            flow = match &loaded_node.subgraph {
                Some(graph) => flow.flow(
                    id.clone(),
                    &graph.flow_within(next(ERROR).is_some() || self.has_error_exit)?,
                ),
                None => {
                    let (loaded, catches) = (
                        Arc::clone(self.loaded),
                        loaded_node.error_edge || self.has_error_exit,
                    );
                    let actions: Vec<String> =
                        ways.iter().map(|(handle, _)| handle.clone()).collect();
                    flow.made(
                        id.clone(),
                        loaded_node.kind.clone(),
                        actions,
                        move |_: &State| {
                            Ok(GraphStep {
                                loaded: Arc::clone(&loaded),
                                at: node,
                                callers: Vec::new(),
                                catches,
                            })
                        },
                    )
                }
            };
            for (handle, to) in ways {
                flow = flow.on(id.clone(), handle, to);
            }
        }
        for (fork, label_of) in region.forks.iter().zip(&forks) {
            let branch = |branch: &Region| {
                self.region(
                    branch,
                    self.loaded.loaded_nodes[branch.entry].id.clone().into(),
                )
            };
            let branches = fork
                .branches
                .iter()
                .map(branch)
                .collect::<Result<Vec<_>, _>>()?;
            let outline = Outline::Parallel(branches.iter().map(Flow::outline).collect());
            let step = ForkStep {
                loaded: Arc::clone(self.loaded),
                label: label_of.clone(),
                branches: branches.into(),
                catches: self.has_error_exit,
            };
            let ways = if self.has_error_exit {
                &[DEFAULT, ERROR][..]
            } else {
                &[DEFAULT]
            };
            flow = flow.made(
                label_of.clone(),
                outline,
                ways.iter().copied(),
                move |_: &State| Ok(step.clone()),
            );
            flow = flow.on(label_of.clone(), DEFAULT, label(fork.join));
            if self.has_error_exit {
                flow = flow.on(label_of.clone(), ERROR, EdgeTarget::End);
            }
        }
        flow.build()
    }

    fn ways(
        &self,
        node: usize,
        next: &dyn Fn(&str) -> Option<EdgeTarget>,
    ) -> Vec<(String, EdgeTarget)> {
        let loaded_node = &self.loaded.loaded_nodes[node];
        let mut ways: Vec<(String, EdgeTarget)> = Vec::new();
        for handle in &loaded_node.handles {
            let ends = match &**handle {
                ERROR => self.has_error_exit,
                handle => handle != REJECTED,
            };
            let to = next(handle).or_else(|| ends.then_some(EdgeTarget::End));
            ways.extend(to.map(|to| (handle.clone(), to)));
        }
        // A subgraph may end with a handle that this graph does not name.
        if let Some(graph) = &loaded_node.subgraph {
            let onward = next(DEFAULT).unwrap_or(EdgeTarget::End);
            let known: HashSet<String> = ways.iter().map(|(handle, _)| handle.clone()).collect();
            let others = graph.ends().into_iter().filter(|end| !known.contains(end));
            ways.extend(others.map(|end| (end, onward.clone())));
        }
        ways
    }

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
