//! A request that is not a chat, such as one for embeddings, as the attempt loop
//! tries it. It counts in limits, ledger and spans as any other.

use std::pin::pin;
use std::time::Duration;

use llmnode_model::ext::BudgetedRetries;
use llmnode_model::internal::catch_panic_of;
use llmnode_model::{AttemptId, BoxFuture, Category, Completion, ModelError, RetryBudget, Sink};
use tracing::Instrument;

use super::attempt::{AttemptSink, in_time, note_provider, record_failure, settle_response};
use super::attempt_loop::{self, Attempts, CallPlan, PlannedAttempt, Success};
use super::context::CallContext;
use super::failure::Failure;
use crate::error::NodeError;
use crate::ledger::{OpenAttempt, RequestInfo};
use crate::limits::{AnswerTokens, Deadline, PromptTokens, RequestTokens, Reservation};
use crate::output::AnswerKind;
use crate::settings::{AfterFailure, EMPTY_SETTINGS, NodeKind, Progress, Resolved};

/// A request to a server that is not a chat.
pub trait OtherRequest: Send + Sync {
    /// The operation, as OpenTelemetry calls it: `embeddings`.
    fn operation(&self) -> &'static str;

    /// The provider, as OpenTelemetry calls it.
    fn provider(&self) -> &str;

    /// The id of the model.
    fn model(&self) -> Option<&str>;

    /// Host and port.
    fn server(&self) -> Option<(&str, u16)>;

    /// The retries that all calls of the endpoint share.
    fn retry_budget(&self) -> Option<&RetryBudget>;

    /// About how many tokens are sent.
    fn tokens(&self) -> u64;

    /// The size of the texts that are sent, in bytes.
    fn bytes(&self) -> u64;

    /// Sends the request once and keeps the response. The completion has no text:
    /// it says what was used, and which model answered.
    fn send<'a>(
        &'a self,
        id: AttemptId,
        timeout: Option<Duration>,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>>;
}

pub(super) fn request<'a>(
    context: &'a CallContext<'a>,
    of: &'a dyn OtherRequest,
) -> BoxFuture<'a, Result<(), NodeError>> {
    Box::pin(async move {
        let node_kind = NodeKind {
            fallback: false,
            idempotent: true,
            answers: Some(AnswerKind::RawText),
        };
        let core = context.core;
        let levels = [
            context.settings,
            &core.settings,
            EMPTY_SETTINGS,
            &core.defaults,
        ];
        let settings = Resolved::new(levels, node_kind)?;
        let timeout = settings.attempt_timeout()?;
        if let Some(listener) = context.listener() {
            listener.set_schema(None)?;
        }
        let call_deadline = match settings.deadline() {
            Some(time) => Deadline::of_call(context.call, time),
            None => None,
        };
        let plan = CallPlan::new(*context, settings, &call_deadline);
        let retries = BudgetedRetries::of_budget(of.retry_budget());
        let mut requesting = OtherRequestAttempts {
            plan: &plan,
            of,
            timeout,
            retries,
            open: None,
            last: None,
        };
        let Err(ended) = attempt_loop::run(&plan, &mut requesting).await else {
            return Ok(());
        };
        let error = ended.before_fallback(context.call)?;
        Err(error.without_record())
    })
}

struct OtherRequestAttempts<'r> {
    plan: &'r CallPlan<'r>,
    of: &'r dyn OtherRequest,
    timeout: Option<Duration>,
    retries: BudgetedRetries<'r>,
    open: Option<OpenAttempt<'r>>,
    last: Option<NodeError>,
}

impl Attempts for OtherRequestAttempts<'_> {
    async fn once(&mut self, one: &PlannedAttempt, _: &Progress<'_>) -> Result<(), Failure> {
        let OtherRequestAttempts {
            plan, of, timeout, ..
        } = *self;
        let open = self
            .open
            .insert(plan.context.call.attempt(one.kind, one.wait, None));
        let outcome = catch_panic_of(pin!(attempt(plan, of, timeout, open))).await;
        let outcome = outcome.unwrap_or_else(|message| {
            let message = format!("the request panicked: {message}");
            Err(Failure::new(Category::Panic, message))
        });
        self.retries.settle(match &outcome {
            Ok(()) => Some(true),
            Err(failure) => failure.endpoint_answered(),
        });
        outcome
    }

    async fn succeeded(&mut self) -> Result<Success, NodeError> {
        if let Some(open) = self.open.take() {
            open.commit(None);
        }
        let flushed = self.plan.context.call.flush().await;
        flushed.map_err(|fault| Failure::unrecorded(fault).into_error())?;
        Ok(Success::Output)
    }

    async fn failed(
        &mut self,
        _: &PlannedAttempt,
        failure: &mut Failure,
        _: &AfterFailure,
    ) -> Result<(), NodeError> {
        self.last = Some(NodeError::new(failure.category, failure.message.clone()));
        if let Some(open) = self.open.take() {
            record_failure(open, failure);
        }
        let flushed = self.plan.context.call.flush().await;
        flushed.map_err(|fault| Failure::unrecorded(fault).into_error())
    }

    /// Only chats have fallback models.
    fn change_model(&mut self, _: &str) -> Result<(), NodeError> {
        match self.last.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn grant(&mut self) -> Result<(), String> {
        self.retries.grant()
    }
}

async fn attempt(
    plan: &CallPlan<'_>,
    other: &dyn OtherRequest,
    timeout: Option<Duration>,
    open: &mut OpenAttempt<'_>,
) -> Result<(), Failure> {
    let outcome = {
        let begun = pin!(begin(plan, other, timeout, open));
        in_time(plan, timeout, begun).await
    };
    outcome.unwrap_or_else(|late| Err(late.into_failure(open)))
}

/// Reserves room for the request and begins its record, before it is sent.
async fn begin(
    plan: &CallPlan<'_>,
    other: &dyn OtherRequest,
    timeout: Option<Duration>,
    open: &mut OpenAttempt<'_>,
) -> Result<(), Failure> {
    let names = [other.model(), None, None];
    let limits = plan.context.limits;
    let mut reserved = limits
        .reserve(|| tokens(other), names, || plan.time_left(timeout))
        .await
        .map_err(|(category, why)| Failure::unsent(category, why))?;
    let info = RequestInfo {
        operation: other.operation(),
        provider: other.provider(),
        server: other.server(),
        model: other.model(),
        chat: None,
    };
    open.set_request(&info, other.tokens(), names, false);
    if let Err(fault) = open.record_begin(None).await {
        reserved.release();
        return Err(Failure::unrecorded(fault));
    }
    let span = open.span().clone();
    send(other, timeout, open, &mut reserved)
        .instrument(span)
        .await
}

async fn send(
    other: &dyn OtherRequest,
    timeout: Option<Duration>,
    open: &mut OpenAttempt<'_>,
    reserved: &mut Reservation<'_>,
) -> Result<(), Failure> {
    let id = open.id;
    let mut sink = AttemptSink {
        open,
        reserved,
        written: None,
        item: None,
    };
    let outcome = other.send(id, timeout, &mut sink).await;
    let completion = settle_response(outcome, open, reserved)?;
    let Completion {
        usage,
        model,
        request_id,
        ..
    } = completion;
    open.note(|record| note_provider(record, usage, model, request_id));
    Ok(())
}

/// Nothing is written in return, so that the most it can use is what is sent.
fn tokens(other: &dyn OtherRequest) -> RequestTokens {
    RequestTokens {
        prompt: PromptTokens {
            estimate: other.tokens(),
            most: other.bytes(),
            least: other.bytes(),
            attachments: 0,
        },
        answer: AnswerTokens::AtMost(0),
        thinking: 0,
        answers: 1,
    }
}
