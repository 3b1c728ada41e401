//! The cursor of a running flow: the state to change, and the position to move.

use llmnode_model::internal::catch_panic;
use llmnode_reader::text::one_line;
use llmnode_runtime::ext::{Label, Position, PositionExt, RunCore};
use llmnode_runtime::internal::{Caller, Ended, ErrorInternals as _};
use llmnode_runtime::{Category, Exec, NodeError};
use tracing::Span;

use super::log::StepLog;
use super::replay::ReplayedOutput;

/// A running flow as one of its steps sees it: the run, the state and the position.
pub struct FlowCursor<'f, S> {
    pub(super) core: &'f RunCore,
    pub(super) state: &'f mut S,
    pub(super) at: &'f mut Position,
    /// Nesting depth, which is the index of the flow's label in `at`.
    pub(super) depth: usize,
    pub(super) within: Caller<'f>,
    pub(super) log: &'f mut (dyn StepLog + 'f),
    /// What the node returned before a crash, so that it is not executed again.
    pub(super) happened: &'f mut Option<ReplayedOutput>,
}

/// The outcome of one step.
#[derive(Debug)]
pub enum Progress<A> {
    /// The flow continues at its position.
    Continue,
    /// The flow, or the step, has ended with this action.
    Done(A),
}

impl<'f, S> FlowCursor<'f, S> {
    pub(super) fn reborrow(&mut self) -> FlowCursor<'_, S> {
        FlowCursor {
            core: self.core,
            state: self.state,
            at: self.at,
            depth: self.depth,
            within: self.within,
            log: self.log,
            happened: self.happened,
        }
    }

    pub(super) fn nested(&mut self) -> FlowCursor<'_, S> {
        let depth = self.depth + 1;
        FlowCursor {
            depth,
            ..self.reborrow()
        }
    }

    pub(super) fn on<P>(self, part: fn(&mut S) -> &mut P) -> Result<FlowCursor<'f, P>, NodeError> {
        let FlowCursor {
            core,
            state,
            at,
            depth,
            within,
            log,
            happened,
        } = self;
        let state = catch_panic(|| part(state))
            .map_err(|message| panicked("the path to the part of the state", message))?;
        Ok(FlowCursor {
            core,
            state,
            at,
            depth,
            within,
            log,
            happened,
        })
    }

    /// A flow whose first step is itself would otherwise overflow the stack.
    pub(super) fn check_depth(&self) -> Result<(), NodeError> {
        NodeError::check_nesting("flows", self.depth, || self.at.labels().collect())
    }

    pub(super) fn begun(&self) -> bool {
        self.at.at(self.depth).is_some()
    }

    pub(super) fn prepared<N>(&self, prepare: impl Fn(&S) -> N) -> Result<N, NodeError> {
        catch_panic(|| prepare(&*self.state))
            .map_err(|message| panicked("the expression that prepares the step", message))
    }

    pub(super) fn write_parameters(&mut self, enter: impl FnOnce(&mut S)) -> Result<(), NodeError> {
        catch_panic(|| enter(self.state))
            .map_err(|message| panicked("the writing of the flow's parameters", message))
    }

    pub(super) fn unknown_step(&self, flow: &str) -> NodeError {
        let label = one_line(self.at.at(self.depth).unwrap_or_default(), 200);
        NodeError::new(
            Category::ConfigError,
            format!("the flow `{flow}` has no step `{label}`"),
        )
    }

    pub(super) fn begin_step(&mut self, node: &str) -> Span {
        self.log.begin_step(self.at, node)
    }

    pub(super) fn follow_edge(&mut self, action: &str, step: usize, label: Label) {
        self.log.edge_taken(self.at, self.depth, action);
        self.at.go(self.depth, step, label);
    }

    pub(super) fn leave_flow(&mut self, action: &str) {
        self.log.edge_taken(self.at, self.depth, action);
    }

    pub(super) fn call<'n, N>(
        &'n self,
        node: &'n N,
    ) -> impl Future<Output = Result<Ended<N::Output>, NodeError>> + Send
    where
        N: Exec<S>,
    {
        let number = self.within.flow().map_or(0, |flow| flow.number);
        let caller = self
            .within
            .at(self.at, number)
            .in_span(self.log.step_span());
        self.core.call(caller, &*self.state, node)
    }
}

pub(super) fn panicked(what: &str, message: String) -> NodeError {
    NodeError::new(Category::Panic, format!("{what} panicked: {message}"))
}

impl<S> std::fmt::Debug for FlowCursor<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FlowCursor")
            .field("at", &self.at)
            .field("depth", &self.depth)
            .finish_non_exhaustive()
    }
}
