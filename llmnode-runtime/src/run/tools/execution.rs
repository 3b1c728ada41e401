//! Executes the calls of a round.

use std::future::poll_fn;
use std::ops::Range;
use std::time::Instant;

use llmnode_model::{BoxFuture, Category, Request, ToolSpec};
use llmnode_reader::text::same_name;
use tracing::Instrument;

use super::invocation::{ConversationId, Invocation};
use super::outcome::ToolOutcome;
use super::round::{MAX_CALLS, Round, RunningRound, tool_index};
use super::search::Finding;
use crate::ledger::{RunEvent, ToolSpan};
use crate::pause::CallState;
use crate::run::context::CallContext;
use crate::run::erased_node::ErasedNode;
use crate::run::failure::Failure;
use crate::run::map_item::MapItem;
use crate::run::pool::Pool;

const CONCURRENCY: usize = 8;

pub(in crate::run) struct Executor<'r, 'n> {
    pub(in crate::run) node: &'r dyn ErasedNode<'n>,
    pub(in crate::run) context: &'r CallContext<'r>,
    pub(in crate::run) around: ConversationId<'r>,
    /// `None`: all tools are listed.
    pub(in crate::run) finding: Option<Finding<'r>>,
}

struct Execution<'e, 'n> {
    round: &'e Round,
    request: &'e Request,
    with: &'e Executor<'e, 'n>,
    tool_indexes: Vec<Option<usize>>,
    called: Vec<Invocation<'e>>,
}

impl Executor<'_, '_> {
    /// Executes the calls without a result concurrently, except tools that run alone. The state of each call is in `running`,
    /// also where this ends early.
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
        let states_before = round.states.iter().map(Some).chain(std::iter::repeat(None));
        let called = round.calls.iter().zip(states_before);
        let execution = Execution {
            round,
            request,
            with: self,
            tool_indexes: round
                .calls
                .iter()
                .map(|call| tool_index(tools, &call.name))
                .collect(),
            called: called
                .map(|(call, state)| Invocation::new(call, state, self.around))
                .collect(),
        };
        let executed = (0..round.calls.len())
            .filter(|&index| execution.runs(index).is_some())
            .count();
        if let Err(why) = self.context.limits.charge_tools(executed) {
            return Err(Failure::new(Category::LimitExceeded, why));
        }
        if executed > 0 {
            self.context
                .item
                .into_iter()
                .for_each(MapItem::begin_what_happens_once);
        }
        for part in concurrent_ranges(tools, &execution.tool_indexes) {
            execution.part(part, states, begun).await?;
        }
        Ok(())
    }
}

impl Execution<'_, '_> {
    async fn part(
        &self,
        part: Range<usize>,
        states: &mut [Option<CallState>],
        begun: &mut [bool],
    ) -> Result<(), Failure> {
        let (mut pool, mut next) = (Pool::new(), part.start);
        loop {
            while pool.len() < CONCURRENCY && next < part.end {
                let index = next;
                next += 1;
                match self.start(index) {
                    Some(tool) => {
                        begun[index] = true;
                        pool.push(index, Box::pin(self.run(index, tool)));
                    }
                    None => {
                        if let Some(outcome) = self.unexecuted(index) {
                            states[index] = Some(self.end(index, None, outcome)?);
                        }
                    }
                }
            }
            if pool.len() == 0 {
                return Ok(());
            }
            let (index, state) = poll_fn(|cx| pool.poll_next(cx)).await;
            states[index] = Some(state?);
        }
    }

    fn runs(&self, index: usize) -> Option<usize> {
        self.tool_indexes[index]
            .filter(|_| index < MAX_CALLS && self.round.already_decided(index).is_none())
    }

    fn start(&self, index: usize) -> Option<BoxFuture<'_, ToolOutcome>> {
        self.with
            .node
            .execute(self.runs(index)?, &self.called[index], self.with.context)
    }

    /// `None`: it already has a result.
    fn unexecuted(&self, index: usize) -> Option<ToolOutcome> {
        let Executor {
            context, finding, ..
        } = self.with;
        let refused = || {
            let call = &self.round.calls[index];
            let own_name = context.call.node();
            if let Some(finding) = finding
                && self.tool_indexes[index].is_none()
                && index < MAX_CALLS
                && !same_name(&call.name, own_name)
            {
                return finding.answer(call, self.request);
            }
            self.round.not_executed(
                index,
                self.tool_indexes[index],
                self.request,
                context.call.node(),
            )
        };
        self.round
            .already_decided(index)
            .unwrap_or_else(|| Some(refused()))
    }

    /// Records the result itself, so that it does not delay the other tools.
    async fn run(
        &self,
        index: usize,
        tool: BoxFuture<'_, ToolOutcome>,
    ) -> Result<CallState, Failure> {
        let CallContext {
            core, call: scope, ..
        } = *self.with.context;
        let began = scope.now();
        let description =
            self.tool_indexes[index].map_or("", |tool| &self.request.callable()[tool].description);
        let begin = || {
            ToolSpan::begin(
                &self.round.calls[index],
                description,
                core.content_in_traces,
            )
        };
        let span = self.called[index].span.get_or_init(begin);
        let outcome = tool.instrument(span.span().clone()).await;
        let label = outcome.label.clone();
        let state = self.end(index, Some(began), outcome);
        span.end(
            &label,
            state.as_ref().ok().and_then(CallState::result).as_ref(),
        );
        let state = state?;
        scope.flush().await.map_err(Failure::unrecorded)?;
        Ok(state)
    }

    fn end(
        &self,
        index: usize,
        began: Option<Instant>,
        outcome: ToolOutcome,
    ) -> Result<CallState, Failure> {
        let scope = self.with.context.call;
        let listener = self.with.context.listener();
        let Round { calls, states, .. } = self.round;
        let ToolOutcome {
            effect,
            label,
            call,
            decided,
            edited,
            found,
        } = match self.with.finding {
            Some(finding) => finding.noted(outcome, &calls[index], self.request),
            None => outcome,
        };
        let decided = decided
            || states.get(index).is_some_and(|state| {
                state.decision().is_some() || matches!(state, CallState::Asked(_))
            });
        let elapsed = began.map(|began| scope.now().saturating_duration_since(began));
        if let Some(listener) = listener {
            listener.tool_ended(&calls[index].id, label.clone());
        }
        scope.tool_ended(calls.len() - 1 - index, |record| {
            (record.outcome, record.call) = (label, call);
            (record.decided, record.edited) = (decided, edited.is_some());
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
            conversation: self.with.around.journal,
        });
        Ok(state)
    }
}

fn concurrent_ranges(tools: &[ToolSpec], tool_indexes: &[Option<usize>]) -> Vec<Range<usize>> {
    let alone = |index: usize| tool_indexes[index].is_some_and(|tool| tools[tool].alone);
    let mut concurrent_ranges: Vec<Range<usize>> = Vec::new();
    for index in 0..tool_indexes.len() {
        match concurrent_ranges.last_mut() {
            Some(last) if !alone(index) && !alone(last.start) => last.end = index + 1,
            _ => concurrent_ranges.push(index..index + 1),
        }
    }
    concurrent_ranges
}
