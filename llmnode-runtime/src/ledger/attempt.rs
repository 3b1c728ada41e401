//! The guard that commits an attempt to the ledger, however it ends.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use llmnode_model::ext::{PromptParts, SentPrompt};
use llmnode_model::gate::RateLimits;
use llmnode_model::{
    AttemptId, BoxError, Category, Completion, ProviderState, Request, TokenUsage, ToolCall,
};
use llmnode_reader::Flag;
use tracing::Span;

use super::batch_attempt::BatchAttempt;
use super::cache_lost::{Compared, sent_prompt};
use super::call::CallGuard;
use super::estimate::Estimate;
use super::events::{AnswerEvent, JournalKey, RunEvent};
use super::record::{AttemptKind, AttemptRecord};
use super::so_far::AnswerSoFar;
use super::spans::{AttemptSpan, RequestInfo};
use crate::clock::Clock;
use crate::money::Money;
use crate::prices::{Listed, PriceTier, Prices};

/// An attempt that runs. Dropped before its end, it commits what is known so far,
/// if its request has begun.
pub(crate) struct OpenAttempt<'c> {
    call: &'c CallGuard<'c>,
    pub(crate) id: AttemptId,
    started: Instant,
    span: AttemptSpan,
    pub(crate) journal_key: Option<Box<JournalKey>>,
    /// What its price depends on.
    tier: PriceTier,
    /// The price by the names known before the answer; the provider may report another name.
    listed: Option<Listed<'c>>,
    /// The request may have gone out, so that the attempt counts.
    begun: bool,
    answered: bool,
    /// In a map, or with a pace: what the answer says of limits.
    pub(crate) wants_rate_limits: bool,
    pub(crate) rate_limits: Option<Box<RateLimits>>,
    /// Boxed, since an answer that comes at once has none.
    so_far: Option<Box<AnswerSoFar>>,
    /// The request before it in its conversation.
    pub(crate) sent_before: Option<Arc<SentPrompt>>,
    /// What its request is made of, and how long that is kept.
    prompt: Option<Box<(PromptParts, Option<Duration>)>>,
    /// `None`: committed or forgotten.
    record: Option<AttemptRecord>,
}

impl CallGuard<'_> {
    /// From here on, the attempt is in the ledger, whatever happens.
    pub(crate) fn attempt(
        &self,
        kind: AttemptKind,
        wait: Duration,
        model: Option<String>,
    ) -> OpenAttempt<'_> {
        let id = self.next_attempt();
        let now = self.now();
        let record = AttemptRecord::new(id, kind, (Some(self.time_of_day(now)), wait), model);
        OpenAttempt::new(self, record, now)
    }
}

impl<'c> OpenAttempt<'c> {
    /// The clock of the run.
    pub(crate) fn clock(&self) -> &dyn Clock {
        self.call.clock()
    }

    fn new(call: &'c CallGuard<'c>, record: AttemptRecord, started: Instant) -> Self {
        let span = AttemptSpan::none();
        OpenAttempt {
            call,
            id: record.id,
            started,
            span,
            journal_key: None,
            tier: PriceTier::default(),
            listed: None,
            begun: false,
            answered: false,
            wants_rate_limits: false,
            rate_limits: None,
            so_far: None,
            sent_before: None,
            prompt: None,
            record: Some(record),
        }
    }

    pub(crate) fn span(&self) -> &Span {
        self.span.span()
    }

    /// Notes the request before it is sent: by it the span is named, the cost
    /// computed, and the usage estimated if none comes. `names`: of the model, the
    /// most reliable first.
    pub(crate) fn set_request(
        &mut self,
        info: &RequestInfo<'_>,
        prompt: u64,
        names: [Option<&str>; 3],
        content_in_traces: bool,
    ) {
        self.listed = self.prices().first_listed(names.into_iter().flatten());
        if let Some(record) = &mut self.record {
            record.estimate = Some(Estimate {
                input: prompt,
                output: None,
            });
            record.model = record
                .model
                .take()
                .or_else(|| info.model.map(str::to_owned));
            self.span = AttemptSpan::begin(self.call.node(), record, info, content_in_traces);
        }
    }

    /// The request must not go out before the journal has written this. `request`:
    /// `None` if it is no chat.
    pub(crate) async fn record_begin(&mut self, request: Option<&Request>) -> Result<(), BoxError> {
        self.begins(request);
        self.call.flush().await
    }

    /// The request is part of an order. Who sends the order has the journal write
    /// this with all others of it.
    pub(crate) fn begin_in_batch(&mut self, batch: BatchAttempt, request: &Request) {
        self.note(|record| record.batch = Some(Box::new(batch)));
        self.begins(Some(request));
    }

    fn begins(&mut self, request: Option<&Request>) {
        if let Some(attempt) = &self.record {
            self.begun = true;
            let call = self.call.info();
            self.call.emit(&RunEvent::AttemptBegins {
                call,
                attempt,
                request,
            });
        }
    }

    /// The result of its line is there.
    pub(crate) fn batch_answered(
        &mut self,
        id: String,
        submitted: Option<SystemTime>,
        ended: Option<SystemTime>,
    ) {
        self.note(|record| {
            if let Some(batch) = &mut record.batch {
                batch.batch = Some(id);
                batch.submitted = submitted;
                batch.ended = ended;
            }
        });
    }

    /// The request that was part of an order is asked directly, at the price of
    /// this tier. `names`: of the model.
    pub(crate) fn leave_batch(&mut self, tier: PriceTier, names: [Option<&str>; 3]) {
        self.note(|record| record.batch = None);
        self.tier = tier;
        self.listed = self.prices().first_listed(names.into_iter().flatten());
    }

    /// Set before the request is.
    pub(crate) fn set_tier(&mut self, tier: PriceTier) {
        self.tier = tier;
    }

    fn prices(&self) -> &'c Prices {
        self.call.prices.in_tier(self.tier)
    }

    fn is_in_batch(&self) -> bool {
        self.record
            .as_ref()
            .is_some_and(|record| record.batch.is_some())
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// The request did not leave, so it cost nothing.
    pub(crate) fn is_unsent(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.unsent)
    }

    pub(crate) fn has_answer(&self) -> bool {
        self.answered
    }

    /// Tells of an answer that ends a turn.
    pub(crate) fn emit_answer(
        &self,
        text: &str,
        carried: Option<&Arc<ProviderState>>,
        accepted: bool,
    ) {
        self.emit_answered(AnswerEvent {
            text,
            carried,
            accepted,
            ..self.answer()
        });
    }

    /// Tells of an answer that calls tools, or of a turn that the provider paused.
    pub(crate) fn emit_round(
        &self,
        text: &str,
        calls: &[ToolCall],
        carried: Option<&Arc<ProviderState>>,
    ) {
        self.emit_answered(AnswerEvent {
            text,
            calls,
            carried,
            is_round: true,
            accepted: true,
            ..self.answer()
        });
    }

    /// What is known of an answer beside its text.
    fn answer(&self) -> AnswerEvent<'_> {
        AnswerEvent {
            key: self.journal_key.as_deref(),
            in_batch: self.is_in_batch(),
            text: "",
            calls: &[],
            carried: None,
            is_round: false,
            accepted: false,
        }
    }

    fn emit_answered(&self, answer: AnswerEvent<'_>) {
        self.call.emit(&RunEvent::Answered {
            call: self.call.id,
            attempt: self.id,
            answer,
        });
    }

    pub(crate) fn keep_carried(&self, carried: Option<Arc<ProviderState>>) {
        if carried.is_some() {
            self.call.set_carried(carried);
        }
    }

    /// The answer is whole.
    pub(crate) fn answered(&mut self, completion: &Completion) {
        self.answered = true;
        self.span.answered(completion);
    }

    /// The provider reports usage in the middle of an answer.
    pub(crate) fn reports(&mut self, usage: TokenUsage) {
        self.so_far.get_or_insert_default().reports(usage);
        self.note(|record| record.usage = Some(usage));
    }

    pub(crate) fn prompt_before(&self) -> Option<&PromptParts> {
        self.sent_before.as_ref().map(|sent| &sent.parts)
    }

    /// The request is written: what it is made of, and how long the provider keeps it.
    pub(crate) fn asks(&mut self, parts: PromptParts, ttl: Option<Duration>) {
        self.prompt = Some(Box::new((parts, ttl)));
    }

    /// Once the answer is counted: compares the request with the one before it.
    /// Returns what the next one is compared with.
    pub(crate) fn compare_prompt(&mut self, is_compacted: bool) -> Option<Arc<SentPrompt>> {
        let (parts, ttl) = *self.prompt.take()?;
        let now = self.call.time_of_day(self.call.now());
        let record = self.record.as_mut()?;
        let usage = record.usage.filter(|usage| usage.input > Some(0))?;
        let compared = Compared {
            before: self.sent_before.as_deref(),
            parts: &parts,
            usage,
            now,
            is_correction: record.kind == AttemptKind::Correction,
            is_compacted,
        };
        let lost = compared.lost();
        record.lost = (!lost.is_unknown()).then(|| Box::new(lost));
        let sent = Arc::new(sent_prompt(parts, ttl, usage, now));
        record.sent = Some(Arc::clone(&sent));
        Some(sent)
    }

    /// A piece of the answer came, which is counted in case no usage does.
    pub(crate) fn writes(&mut self, piece: &str) {
        self.so_far.get_or_insert_default().writes(piece);
    }

    /// The attempt failed. `usage` and `answered`: what its model says of it.
    pub(crate) fn broke_off(&mut self, usage: Option<TokenUsage>, answered: Option<u64>) {
        let so_far = self.so_far.take().unwrap_or_default();
        let reported = match (usage, so_far.usage()) {
            (Some(usage), Some(before)) => Some(usage.larger(before)),
            (usage, before) => usage.or(before),
        };
        self.note(|record| record.break_off(reported, answered.max(so_far.answered())));
    }

    /// The first piece of the answer came.
    pub(crate) fn begins_to_answer(&mut self) {
        let elapsed = self.call.now().saturating_duration_since(self.started);
        self.note(|record| record.first_chunk = Some(elapsed));
    }

    /// Writes into the record, unless it was committed.
    pub(crate) fn note(&mut self, note: impl FnOnce(&mut AttemptRecord)) {
        if let Some(record) = &mut self.record {
            note(record);
        }
    }

    /// What is known of the attempt so far. `None`: it was committed.
    pub(crate) fn record(&self) -> Option<&AttemptRecord> {
        self.record.as_ref()
    }

    pub(crate) fn commit(mut self, category: Option<Category>) {
        self.close(category, false);
    }

    /// For an attempt whose request never went out: only the trace shows it.
    pub(crate) fn forget(mut self, category: Category) {
        self.span.failed(category);
        let in_batch = self.is_in_batch();
        self.record = None;
        // What a provider was given goes on: a later process reads it.
        if self.begun && !in_batch {
            self.call.emit(&RunEvent::AttemptForgotten(self.id));
        }
    }

    /// Completes the record and commits it, once. `continues`: the provider answers all the same.
    fn close(&mut self, category: Option<Category>, continues: bool) {
        if !self.answered && self.so_far.is_some() {
            self.broke_off(None, None);
        }
        let Some(mut record) = self.record.take() else {
            return;
        };
        record.category = category;
        record.unsent &= record.usage.is_none();
        record.cost = record.cost.or_else(|| self.cost(&record));
        if record.reported() || record.unsent {
            record.estimate = None;
        }
        record.elapsed = self.call.now().saturating_duration_since(self.started);
        self.span.end(&record);
        // Entered, not `in_scope`: a closure would move the record, which is large, twice more.
        let _entered = self.span().enter();
        self.log(&record);
        self.call.commit(record, continues);
    }

    fn cost(&self, record: &AttemptRecord) -> Option<f64> {
        if record.flags.contains(&Flag::OtherPrice) {
            return None;
        }
        let usage = record.usage?;
        let listed = self
            .prices()
            .of_response(self.listed, record.model.as_deref(), &usage)?;
        listed.price.of(&usage).map(Money::to_f64)
    }

    fn log(&self, record: &AttemptRecord) {
        tracing::debug!(
            target: "llmnode::attempt",
            node = &**self.call.node(),
            id = %record.id,
            kind = record.kind.as_str(),
            category = record.category.map(Category::as_str),
            model = record.model,
            request_id = record.request_id,
            tokens = record.usage.and_then(|usage| usage.total()),
            elapsed = ?record.elapsed,
        );
    }
}

impl Drop for OpenAttempt<'_> {
    fn drop(&mut self) {
        if self.begun {
            // What a batch was given goes on: in the journal, the attempt has no
            // end, and a later process reads its answer.
            let continues = self.is_in_batch() && !self.answered;
            self.close(Some(Category::Cancelled), continues);
        }
    }
}
