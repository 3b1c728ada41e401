//! A request that is no chat, such as one for embeddings, as the attempt loop tries it: it counts in limits, ledger and spans as
//! any other.

use std::pin::pin;
use std::time::Duration;

use tracing::Instrument;

use super::asking::close;
use super::attempt::{Watch, came_back, in_attempt_timeout, note_provider, timed_out};
use super::attempts::{self, Plan, Tried, Try, Well};
use super::cx::Cx;
use super::failure::Failure;
use crate::category::Category;
use crate::error::NodeError;
use crate::ids::AttemptId;
use crate::ledger::{Asks, OpenAttempt};
use crate::limits::Prompt;
use crate::model::{Completion, ModelError, Retries, RetryBudget, Sink};
use crate::output::Answers;
use crate::panics::caught;
use crate::settings::{Nature, Next, Resolved, SILENT};
use crate::{BoxError, BoxFuture};

/// What is asked of a server, and what the ledger says of it.
pub trait Requests: Send + Sync {
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

    /// How many bytes the texts have that are sent.
    fn bytes(&self) -> u64;

    /// Sends the request once and keeps what came back. The completion has no text: it says what was used, and of whom.
    fn send<'a>(
        &'a self,
        id: AttemptId,
        timeout: Option<Duration>,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>>;
}

/// Makes a request within the call of a node, and again after failures of the transport, as the settings say.
///
/// # Errors
/// The last failure.
pub async fn request<S: ?Sized>(cx: &Cx<'_, S>, of: &dyn Requests) -> Result<(), BoxError> {
    boxed(&cx.on(&()), of).await.map_err(|error| NodeError::tried(error).into())
}

fn boxed<'a>(cx: &'a Cx<'a, ()>, of: &'a dyn Requests) -> BoxFuture<'a, Result<(), NodeError>> {
    Box::pin(async move {
        let nature = Nature { fallback: false, idempotent: true, answers: Some(Answers::Taken) };
        let settings = Resolved::new([cx.settings, &cx.core.settings, SILENT], nature)?;
        let timeout = settings.attempt_timeout()?;
        if let Some(listener) = cx.listener {
            listener.expects(None)?;
        }
        let plan = Plan::new(cx, cx.limits, settings);
        let retries = Retries::of_budget(of.retry_budget());
        let mut requesting = Requesting { plan: &plan, of, timeout, retries, open: None, last: None };
        let Err(ended) = attempts::run(&plan, &mut requesting).await else { return Ok(()) };
        Err(ended.before_fallback(cx.scope)?.without_record())
    })
}

struct Requesting<'r> {
    plan: &'r Plan<'r>,
    of: &'r dyn Requests,
    timeout: Option<Duration>,
    retries: Retries<'r>,
    /// The attempt that was begun last, until it is written down.
    open: Option<OpenAttempt<'r>>,
    /// Why it failed last.
    last: Option<NodeError>,
}

impl Tried for Requesting<'_> {
    async fn once(&mut self, one: &Try) -> Result<(), Failure> {
        let Requesting { plan, of, timeout, .. } = *self;
        let open = self.open.insert(plan.call.attempt(one.kind, one.wait, None));
        let outcome = caught(|| attempt(plan, of, timeout, open)).await;
        let panicked = |said| Err(Failure::new(Category::Panic, format!("the request panicked: {said}")));
        let outcome = outcome.unwrap_or_else(panicked);
        self.retries.settle(match &outcome {
            Ok(()) => Some(true),
            Err(failure) => failure.endpoint_answered(),
        });
        outcome
    }

    async fn ended(&mut self) -> Result<Well, NodeError> {
        if let Some(open) = self.open.take() {
            open.commit(None);
        }
        let recorded = self.plan.call.recorded().await;
        recorded.map_err(|fault| Failure::unrecorded(fault).into_error())?;
        Ok(Well::Output)
    }

    async fn failed(&mut self, _: &Try, failure: &mut Failure, _: &Next) -> Result<(), NodeError> {
        self.last = Some(NodeError::new(failure.category, failure.message.clone()));
        self.open.take().into_iter().for_each(|open| close(open, failure));
        self.plan.call.recorded().await.map_err(|fault| Failure::unrecorded(fault).into_error())
    }

    /// The other models are for chats.
    fn change_model(&mut self, _: &str) -> Result<(), NodeError> {
        self.last.take().map_or(Ok(()), Err)
    }

    fn grant(&mut self) -> Result<(), String> {
        self.retries.grant()
    }
}

async fn attempt(
    plan: &Plan<'_>,
    of: &dyn Requests,
    timeout: Option<Duration>,
    open: &mut OpenAttempt<'_>,
) -> Result<(), Failure> {
    let Plan { core, limits, .. } = plan;
    let outcome = {
        let asking = pin!(async {
            let names = [of.model(), None, None];
            let prompt = Prompt { estimate: of.tokens(), most: of.bytes() };
            let mut reserved = match limits.reserve(prompt, Some(0), names).await {
                Ok(reserved) => reserved,
                Err((category, why)) => return Err(Failure { sent: false, ..Failure::new(category, why) }),
            };
            let asks = Asks {
                operation: of.operation(),
                provider: of.provider(),
                server: of.server(),
                model: of.model(),
                chat: None,
            };
            let price = of.model().and_then(|name| core.limits.prices.of(name));
            open.asks(&asks, of.tokens(), price.copied(), false);
            if let Err(fault) = open.record_begin().await {
                reserved.release();
                return Err(Failure::unrecorded(fault));
            }
            let span = open.span().clone();
            let id = open.id;
            async {
                let mut watch = Watch { open, reserved: &mut reserved, written: None };
                let outcome = of.send(id, timeout, &mut watch).await;
                let completion = came_back(outcome, open, &mut reserved)?;
                let Completion { usage, model, request_id, .. } = completion;
                open.note(|record| note_provider(record, usage, model, request_id));
                Ok(())
            }
            .instrument(span)
            .await
        });
        let asking = pin!(in_attempt_timeout(&*core.clock, timeout, asking));
        limits.in_time(asking).await
    };
    match outcome {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(timeout)) => Err(timed_out(timeout, open)),
        Err(late) => Err(Failure::new(Category::LimitExceeded, late)),
    }
}
