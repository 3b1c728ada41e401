//! The gate of the endpoint, key and model, before a request and after it.

use llmnode_model::{Category, Group};

use super::ModelAttempts;
use crate::ledger::{AttemptKind, AttemptRecord, OpenAttempt, prompt_tokens};
use crate::run::at_gate::{AtGateContext, Report};
use crate::run::attempt_loop::PlannedAttempt;
use crate::run::context::CallContext;
use crate::run::failure::Failure;
use crate::settings::Progress;

impl ModelAttempts<'_, '_> {
    /// Outside of a map, a call is held back only before a retry, and only if
    /// something was refused before.
    pub(super) fn lines_up(&self, one: &PlannedAttempt) -> bool {
        let CallContext { core, item, .. } = self.plan.context;
        // A batch is no rush of requests.
        if self.plan.context.batches().is_some() {
            return false;
        }
        let gates = self.target.gates(core);
        item.is_some() || gates.are_paced() || (one.kind == AttemptKind::Retry && !gates.are_idle())
    }

    pub(super) fn passes_at_once(&mut self) -> bool {
        let ModelAttempts {
            plan,
            target,
            keeper,
            request,
            ..
        } = self;
        let core = plan.context.core;
        keeper.set(|| target.gate(core, request));
        !target.gates(core).are_paced() && keeper.enters_at_once(&plan.context)
    }

    pub(super) async fn pass_gate(
        &mut self,
        one: &PlannedAttempt,
        progress: &Progress<'_>,
    ) -> Result<(), Failure> {
        let ModelAttempts {
            plan,
            target,
            keeper,
            request,
            ..
        } = self;
        let core = plan.context.core;
        keeper.set(|| target.gate(core, request));
        let prompt = prompt_tokens(&request.messages);
        keeper
            .keep_pace(target.gates(core), prompt, plan.context)
            .await;
        keeper
            .pass(AtGateContext {
                plan,
                one,
                progress,
            })
            .await
    }

    /// `None`: the request was answered, whatever the answer is worth.
    fn report_to_gate(
        &mut self,
        failure: Option<&Failure>,
        unreached: bool,
        progress: &Progress<'_>,
    ) {
        let ModelAttempts {
            plan,
            target,
            keeper,
            request,
            open,
            ..
        } = self;
        let CallContext {
            core, call, item, ..
        } = plan.context;
        if plan.context.batches().is_some() {
            return;
        }
        let gates = target.gates(core);
        let is_down = failure.is_some_and(|failure| failure.category.group() == Group::Transport);
        if !is_down && item.is_none() && gates.are_idle() && !gates.are_paced() {
            return;
        }
        let mut used = None;
        let mut limits = None;
        if let Some(open) = open.as_mut().filter(|open| open.wants_rate_limits) {
            used = open.record().and_then(AttemptRecord::counted_tokens);
            limits = open.rate_limits.take().map(|limits| *limits);
        }
        keeper.set(|| target.gate(core, request));
        let longest_wait = progress.longest_wait();
        keeper.report(&Report {
            plan,
            failure,
            call: call.id,
            unreached,
            longest_wait,
            used,
            limits,
        });
    }

    /// The endpoint's retries and its gate learn how the request ended.
    pub(super) fn end_request(&mut self, failure: Option<&mut Failure>, progress: &Progress<'_>) {
        let Some(failure) = failure else {
            self.retries.settle(Some(true));
            return self.report_to_gate(None, false, progress);
        };
        let open = self.open.as_ref();
        // The timeout may also have passed in a validator.
        let was_answered =
            failure.category == Category::Timeout && open.is_some_and(OpenAttempt::has_answer);
        let unreached = open.is_some_and(OpenAttempt::is_unsent);
        self.retries.settle(match was_answered {
            true => Some(true),
            false => failure.endpoint_answered(),
        });
        let of_endpoint = (!was_answered).then_some(&*failure);
        self.report_to_gate(of_endpoint, unreached, progress);
        if failure.category == Category::NotFound {
            failure.add(&self.plan.context.core.unregistered_hint(&self.target));
        }
    }
}
