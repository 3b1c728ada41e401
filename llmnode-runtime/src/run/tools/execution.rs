//! Executes the calls of a round.
//!
//! All calls of the round are prepared, counted and charged before any tool begins.
//! Then they run side by side, a few at once; a tool that runs alone divides the
//! round, so that what stands before it has ended when it begins. A result is
//! written down as soon as its tool ends: in the record, in the journal, and in the
//! [`RunningRound`], which outlives this room. So a deadline or a crash in the
//! middle loses no result, and the round goes on with the calls that are left.

use std::future::poll_fn;
use std::ops::Range;
use std::time::Instant;

use llmnode_model::{BoxFuture, Category, Request, ToolSpec};
use llmnode_reader::text::same_name;
use tracing::Instrument;

use super::invocation::{ConversationId, Invocation};
use super::outcome::ToolOutcome;
use super::round::{DecidedCall, MAX_CALLS, Round, RunningRound, tool_index};
use super::search::Finding;
use crate::ledger::{RunEvent, ToolSpan};
use crate::pause::CallState;
use crate::run::context::CallContext;
use crate::run::erased_node::ErasedNode;
use crate::run::failure::Failure;
use crate::run::pool::Pool;

/// So many tools of one answer run at once: a model may call dozens, and each may
/// hold a connection.
const CONCURRENCY: usize = 8;

/// What the calls of every round need: the node, the call that they are part of,
/// and their conversation.
pub(in crate::run) struct Executor<'r, 'n> {
    pub(in crate::run) node: &'r dyn ErasedNode<'n>,
    pub(in crate::run) context: &'r CallContext<'r>,
    pub(in crate::run) conversation: ConversationId<'r>,
    /// `None`: all tools are listed.
    pub(in crate::run) finding: Option<Finding<'r>>,
}

/// One round, while it is executed. Each list has a place for each call.
struct Execution<'e, 'n> {
    round: &'e Round,
    request: &'e Request,
    executor: &'e Executor<'e, 'n>,
    /// `None`: there is no tool of that name.
    tool_indexes: Vec<Option<usize>>,
    invocations: Vec<Invocation<'e>>,
}

impl Executor<'_, '_> {
    /// Executes the calls without a result concurrently, except tools that run
    /// alone. The state of each call is in `running`, also where this ends early.
    pub(in crate::run) async fn execute(
        &self,
        running: &mut RunningRound,
        request: &Request,
    ) -> Result<(), Failure> {
        let RunningRound {
            round,
            states,
            begun,
        } = running;
        let round = &**round;
        let tools = request.callable();
        let mut tool_indexes = Vec::with_capacity(round.calls.len());
        let mut invocations = Vec::with_capacity(round.calls.len());
        for (index, call) in round.calls.iter().enumerate() {
            let state_before = round.states.get(index);
            tool_indexes.push(tool_index(tools, &call.name));
            invocations.push(Invocation::new(call, state_before, self.conversation));
        }
        let execution = Execution {
            round,
            request,
            executor: self,
            tool_indexes,
            invocations,
        };
        let executed = (0..round.calls.len())
            .filter(|&index| execution.tool_to_run(index).is_some())
            .count();
        if let Err(why) = self.context.limits.charge_tools(executed) {
            return Err(Failure::new(Category::LimitExceeded, why));
        }
        // Once a tool has begun, the map must not ask the item from its start again.
        if let Some(item) = self.context.item
            && executed > 0
        {
            item.begin_what_happens_once();
        }
        for part in concurrent_ranges(tools, &execution.tool_indexes) {
            execution.part(part, states, begun).await?;
        }
        Ok(())
    }
}

impl Execution<'_, '_> {
    /// Executes calls that may run side by side.
    async fn part(
        &self,
        part: Range<usize>,
        states: &mut [Option<CallState>],
        begun: &mut [bool],
    ) -> Result<(), Failure> {
        let mut pool = Pool::new();
        let mut next = part.start;
        loop {
            while pool.len() < CONCURRENCY && next < part.end {
                let index = next;
                next += 1;
                if let Some(tool) = self.start(index) {
                    begun[index] = true;
                    pool.push(index, Box::pin(self.run(index, tool)));
                } else if let Some(outcome) = self.unexecuted(index) {
                    states[index] = Some(self.end(index, None, outcome)?);
                }
            }
            if pool.len() == 0 {
                return Ok(());
            }
            let (index, state) = poll_fn(|cx| pool.poll_next(cx)).await;
            states[index] = Some(state?);
        }
    }

    /// The tool that this call runs. `None`: it runs none.
    fn tool_to_run(&self, index: usize) -> Option<usize> {
        let tool = self.tool_indexes[index]?;
        if index >= MAX_CALLS || self.round.already_decided(index).is_some() {
            return None;
        }
        Some(tool)
    }

    fn start(&self, index: usize) -> Option<BoxFuture<'_, ToolOutcome>> {
        let tool = self.tool_to_run(index)?;
        let Executor { node, context, .. } = self.executor;
        node.execute(tool, &self.invocations[index], context)
    }

    /// The outcome of a call that runs no tool. `None`: it already has a result.
    fn unexecuted(&self, index: usize) -> Option<ToolOutcome> {
        match self.round.already_decided(index) {
            Some(DecidedCall::HasResult) => None,
            Some(DecidedCall::Becomes(outcome)) => Some(outcome),
            None => Some(self.refused(index)),
        }
    }

    /// What a call comes to that names no tool, or is one too many. Where tools are
    /// looked for, an unknown name is a search.
    fn refused(&self, index: usize) -> ToolOutcome {
        let Executor {
            context, finding, ..
        } = self.executor;
        let call = &self.round.calls[index];
        let tool = self.tool_indexes[index];
        let own_name = context.call.node();
        if let Some(finding) = finding
            && tool.is_none()
            && index < MAX_CALLS
            && !same_name(&call.name, own_name)
        {
            return finding.answer(call, self.request);
        }
        self.round.not_executed(index, tool, self.request, own_name)
    }

    /// Records the result itself, so that it does not delay the other tools.
    async fn run(
        &self,
        index: usize,
        tool: BoxFuture<'_, ToolOutcome>,
    ) -> Result<CallState, Failure> {
        let CallContext {
            core, call: scope, ..
        } = *self.executor.context;
        let began = scope.now();
        let span = self.invocations[index].span.get_or_init(|| {
            let description = match self.tool_indexes[index] {
                Some(tool) => &*self.request.callable()[tool].description,
                None => "",
            };
            ToolSpan::begin(
                &self.round.calls[index],
                description,
                core.content_in_traces,
            )
        });
        let outcome = tool.instrument(span.span().clone()).await;
        let label = outcome.label.clone();
        let state = self.end(index, Some(began), outcome);
        {
            // Within a block, so that the future has no place for it.
            let result = state.as_ref().ok().and_then(CallState::result);
            span.end(&label, result.as_ref());
        }
        let state = state?;
        scope.flush().await.map_err(Failure::unrecorded)?;
        Ok(state)
    }

    /// Writes down what a call came to. `began`: `None` if no tool ran. `Err`: it
    /// ends the agent.
    ///
    /// Listeners of the stream and the record are told of it in any case, and only
    /// then is it looked at: an error has to be found in the record. The event
    /// comes last, since it has the result as the model reads it.
    fn end(
        &self,
        index: usize,
        began: Option<Instant>,
        outcome: ToolOutcome,
    ) -> Result<CallState, Failure> {
        let scope = self.executor.context.call;
        let listener = self.executor.context.listener();
        let Round { calls, states, .. } = self.round;
        let ToolOutcome {
            effect,
            label,
            call,
            decided,
            edited,
            found,
        } = match self.executor.finding {
            Some(finding) => finding.noted(outcome, &calls[index], self.request),
            None => outcome,
        };
        let was_decided_before = match states.get(index) {
            Some(CallState::Asked(_)) => true,
            Some(state) => state.decision().is_some(),
            None => false,
        };
        let elapsed = began.map(|began| scope.now().saturating_duration_since(began));
        if let Some(listener) = listener {
            listener.tool_ended(&calls[index].id, label.clone());
        }
        let from_the_last = calls.len() - 1 - index;
        scope.tool_ended(from_the_last, |record| {
            record.outcome = label;
            record.call = call;
            record.decided = decided || was_decided_before;
            record.edited = edited.is_some();
            record.started = began.map(|began| scope.time_of_day(began));
            record.elapsed = elapsed.unwrap_or_default();
        });
        let state = effect
            .into_state(&calls[index].id, found)
            .map_err(Failure::of_tool)?;
        scope.emit(&RunEvent::ToolEnded {
            call: scope.info(),
            tool: &calls[index],
            arguments: edited.as_deref(),
            result: state.result().as_ref(),
            by: call,
            executed: began.is_some(),
            conversation: self.executor.conversation.journal,
        });
        Ok(state)
    }
}

/// The calls of a round in parts, one after the other: a tool that runs alone is a part of its own.
fn concurrent_ranges(tools: &[ToolSpec], tool_indexes: &[Option<usize>]) -> Vec<Range<usize>> {
    let mut concurrent_ranges: Vec<Range<usize>> = Vec::new();
    let mut last_is_alone = true;
    for (index, tool) in tool_indexes.iter().enumerate() {
        let is_alone = tool.is_some_and(|tool| tools[tool].alone);
        match concurrent_ranges.last_mut() {
            Some(last) if !is_alone && !last_is_alone => last.end = index + 1,
            _ => concurrent_ranges.push(index..index + 1),
        }
        last_is_alone = is_alone;
    }
    concurrent_ranges
}
