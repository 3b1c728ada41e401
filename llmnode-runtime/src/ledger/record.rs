//! What happened in one attempt and in one call.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use llmnode_model::ext::SentPrompt;
use llmnode_model::{ApiKind, AttemptId, CallId, Category, ResponseFormat, TokenUsage};
use llmnode_reader::{Flag, Violation};
use serde::{Deserialize, Serialize};

use super::batch_attempt::BatchAttempt;
use super::cache_lost::CacheLost;
use super::corrected::{Correction, corrected};
use super::estimate::{Estimate, answer_tokens};
use super::milliseconds;
use super::usage::{Replayed, Usage};
use crate::position::Position;
use crate::text::{cut, impl_debug};

/// Why an attempt was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AttemptKind {
    /// The first attempt of the call.
    First,
    /// A correction: the model got what was wrong with its last answer.
    Correction,
    /// The same request again, after a failure of the transport.
    Retry,
    /// The same request again, without what the provider refused.
    Adapted,
    /// The original prompt to another model, after the models before failed.
    FallbackModel,
    /// The next request, after the tools that the model called.
    Turn,
}

impl AttemptKind {
    /// Returns its name, such as `"correction"`.
    pub const fn as_str(self) -> &'static str {
        match self {
            AttemptKind::First => "first",
            AttemptKind::Correction => "correction",
            AttemptKind::Retry => "retry",
            AttemptKind::Adapted => "adapted",
            AttemptKind::FallbackModel => "fallback_model",
            AttemptKind::Turn => "turn",
        }
    }
}

/// What replaced the answer of the first model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum UsedFallback {
    /// The answer of a fallback model.
    #[serde(rename = "fallback_model")]
    Model,
    /// The node's fallback value.
    #[serde(rename = "fallback_value")]
    Value,
}

impl UsedFallback {
    /// Returns its name, such as `"fallback_model"`.
    pub const fn as_str(self) -> &'static str {
        match self {
            UsedFallback::Model => "fallback_model",
            UsedFallback::Value => "fallback_value",
        }
    }
}

/// One attempt: a request that was begun, or that got no connection. Its `Debug`
/// form shows no content.
#[derive(Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AttemptRecord {
    /// Its id, which went out with the request.
    pub id: AttemptId,
    /// Why it was made.
    pub kind: AttemptKind,
    /// What went wrong. `None`: the answer was accepted.
    pub category: Option<Category>,
    /// The message of the failure, without the raw answer. A very long message is cut.
    #[serde(skip)]
    pub message: String,
    /// What was wrong with the answer, with warnings: as short as the model
    /// received it, and at most 256. Kept for the newest 8 attempts of a call.
    #[serde(skip)]
    pub violations: Vec<Violation>,
    /// No connection was made, so it is not a request and counts in no figure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsent: bool,
    /// Flags of an accepted answer, such as repairs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// The tokens, as the provider reports them; none, if it refused the request
    /// for its key, its quota, its rate, its model or one of its fields. `None`:
    /// unknown.
    pub usage: Option<TokenUsage>,
    /// The cost, in the unit of the run's [prices](crate::Run::with_prices); 0 for
    /// a request that was refused so, with or without a price. `None`: the model
    /// has no price, or the usage is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// An estimate of the usage, if the provider reported no total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// When it began, after its wait, by the machine's clock. `None` in records of older versions.
    #[serde(
        rename = "started_unix_ms",
        with = "milliseconds::unix::optional",
        default
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<SystemTime>,
    /// The wait before the request.
    #[serde(rename = "wait_ms", with = "milliseconds")]
    pub wait: Duration,
    /// The time from the start of the request to the end of validation.
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub elapsed: Duration,
    /// The time until the first piece of the answer. `None`: the answer was not
    /// streamed, or had not begun.
    #[serde(rename = "first_chunk_ms", with = "milliseconds::optional", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_chunk: Option<Duration>,
    /// The wait that the server asked for.
    #[serde(rename = "retry_after_ms", with = "milliseconds::optional", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
    /// The model as the provider names it, or else as the request named it.
    pub model: Option<String>,
    /// The API by which it was asked. `None`: the model does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<ApiKind>,
    /// How the model was asked for the type of the answer. `None`: it was asked for
    /// text, or does not report it.
    #[serde(default, alias = "dialect", skip_serializing_if = "Option::is_none")]
    pub response_format: Option<ResponseFormat>,
    /// The settings that were not sent as they are, because the model refused them
    /// in this call or an earlier one: `temperature` is left out, `choices` stay in
    /// words, `max_tokens` is renamed to `max_completion_tokens`, a response format
    /// such as `strict` is replaced by the next one. `default_limit`: the limit
    /// that is sent where nobody set one cut an answer of this call, so a higher
    /// one was sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// JSON pointers to the places where the schema of this correction allowed only
    /// what a check had listed, such as `/item`: see
    /// [`Invalid::only`](crate::Invalid::only).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub narrowed: Vec<String>,
    /// Why the answer ended, such as `stop` or `length`; else in the provider's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<Cow<'static, str>>,
    /// The HTTP status of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
    /// The batch that it was part of. `None`: it was asked directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Box<BatchAttempt>>,
    /// The tools that the model called, in the model's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolRecord>,
    /// Boxed, since most attempts have none. `None`: nobody knows.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        rename = "cache_lost"
    )]
    pub(crate) lost: Option<Box<CacheLost>>,
    /// What the next request of the conversation is compared with.
    #[serde(skip)]
    pub(crate) sent: Option<Arc<SentPrompt>>,
    /// The text of the answer, cut at 64 KiB. `None`: no text was read. Kept for
    /// the newest 8 attempts of a call.
    #[serde(skip)]
    pub answer: Option<String>,
}

impl AttemptRecord {
    pub(crate) fn new(
        id: AttemptId,
        kind: AttemptKind,
        (started, wait): (Option<SystemTime>, Duration),
        model: Option<String>,
    ) -> Self {
        AttemptRecord {
            id,
            kind,
            category: None,
            message: String::new(),
            violations: Vec::new(),
            unsent: false,
            flags: Vec::new(),
            usage: None,
            cost: None,
            estimate: None,
            started,
            wait,
            elapsed: Duration::ZERO,
            first_chunk: None,
            retry_after: None,
            model,
            api: None,
            response_format: None,
            refused: Vec::new(),
            narrowed: Vec::new(),
            finish_reason: None,
            status: None,
            request_id: None,
            batch: None,
            tools: Vec::new(),
            lost: None,
            sent: None,
            answer: None,
        }
    }

    /// Returns whether the request has read back what the one before it had left in
    /// the provider's cache, and if not, why. The request before it is that of the
    /// same conversation: an agent's last turn, the answer that is corrected, the
    /// call whose answer is the last one of the history, or the one that paused.
    pub fn cache_lost(&self) -> &CacheLost {
        self.lost.as_deref().unwrap_or(&CacheLost::Unknown)
    }

    pub(super) fn forget_content(&mut self) {
        self.answer = None;
        self.violations = Vec::new();
    }

    /// The tokens of the request and of its answer, as the provider counted them.
    pub(crate) fn counted_tokens(&self) -> Option<(u64, Option<u64>)> {
        let usage = self.usage?;
        Some((usage.total()?, usage.output))
    }

    pub(crate) fn has_flag(&self, flag: &Flag) -> bool {
        self.flags.contains(flag)
    }

    /// Whether this setting or part was not sent as it is, because the model refused it.
    pub(crate) fn has_refused(&self, part: &str) -> bool {
        self.refused.iter().any(|refused| refused == part)
    }

    /// Whether the model saw the form of the answer in its prompt, and no schema
    /// that its server enforces.
    pub(crate) fn shows_form(&self) -> bool {
        matches!(
            self.response_format,
            Some(ResponseFormat::JsonObject | ResponseFormat::Prompt)
        )
    }

    pub(crate) fn estimate_unreported(&mut self, characters: usize) {
        if !self.reported() {
            self.estimate_written(characters);
        }
    }

    fn estimate_written(&mut self, characters: usize) {
        if let Some(estimate) = &mut self.estimate {
            estimate.output = Some(answer_tokens(characters));
        }
    }

    /// What is reported counts; of the rest, about so many tokens of an answer had come.
    pub(super) fn break_off(&mut self, usage: Option<TokenUsage>, answered: Option<u64>) {
        self.usage = usage;
        if let Some(estimate) = &mut self.estimate {
            // Some servers report a 0 at first.
            let reported = usage
                .and_then(|usage| usage.input)
                .filter(|input| *input > 0);
            estimate.input = reported.unwrap_or(estimate.input);
            estimate.output = estimate.output.max(answered);
        }
    }

    /// A refused request: its tokens and its cost are known to be none.
    pub(crate) fn costs_nothing(&mut self) {
        let mut usage = TokenUsage::new(0, 0);
        [usage.cached, usage.cache_write, usage.reasoning] = [Some(0); 3];
        self.usage = Some(usage);
        self.cost = Some(0.0);
    }

    pub(super) fn reported(&self) -> bool {
        self.usage.is_some_and(|usage| usage.total().is_some())
    }

    pub(crate) fn keep_answer(&mut self, answer: String) {
        self.answer = Some(cut(answer, 64 * 1024));
    }
}

impl_debug!(AttemptRecord: id, kind, category, usage, wait, elapsed, request_id);

/// One call of a tool, without its arguments and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolRecord {
    /// The id of the call in the conversation.
    pub id: String,
    /// The name of the tool as the model wrote it. A very long one is cut.
    pub name: String,
    /// The outcome: `ok`, `error` (the tool's own), `invalid_arguments`,
    /// `unknown_tool`, `not_executed`, `denied`, `waiting` (for an approval or a
    /// result), `replayed` (its result comes from an earlier call), `aborted`, or
    /// the name of the [category](crate::Category) of the failure, such as
    /// `timeout`. `called`: nothing yet.
    pub outcome: Cow<'static, str>,
    /// When it began, by the machine's clock. `None`: it did not run, or the record
    /// is of an older version.
    #[serde(
        rename = "started_unix_ms",
        with = "milliseconds::unix::optional",
        default
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<SystemTime>,
    /// The time that it took.
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub elapsed: Duration,
    /// The call of the tool's node. `None`: the tool did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// Whether a person, or the handler of the run, decided about it: its
    /// [approval](crate::Approval), or its result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decided: bool,
    /// Whether a person has changed the arguments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
}

impl ToolRecord {
    pub(crate) fn called(id: &str, name: &str) -> Self {
        let id = id.to_owned();
        let name = cut(name.to_owned(), 200);
        ToolRecord {
            id,
            name,
            outcome: "called".into(),
            started: None,
            elapsed: Duration::ZERO,
            call: None,
            decided: false,
            edited: false,
        }
    }
}

/// A failed execution of a node without a model. It is not a request and does not
/// count as one. Its `Debug` form shows no content.
#[derive(Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailedTry {
    /// The number of the execution in its call, from 1.
    pub number: u32,
    /// What went wrong.
    pub category: Category,
    /// The message of the failure. A very long one is cut.
    #[serde(skip)]
    pub message: String,
    /// The wait before it.
    #[serde(rename = "wait_ms", with = "milliseconds")]
    pub wait: Duration,
    /// The time that it took.
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub elapsed: Duration,
}

impl_debug!(FailedTry: number, category, wait, elapsed);

pub(crate) type Labels = BTreeMap<String, String>;

/// One call of a node: all its attempts, and how it ended. Its `Debug` form shows no content.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Category, NodeError, Run, ScriptedModel};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let run = Run::new(ScriptedModel::new().reply("seven").reply("7"));
/// let record = run.extract::<u8>("seven").retries(1).report().await?.record;
/// assert_eq!(record.node, "extract");
/// assert_eq!(record.attempts[0].category, Some(Category::SchemaError));
/// assert_eq!(record.attempts[1].category, None); // accepted
///
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallRecord {
    /// Its id.
    pub id: CallId,
    /// The call that made this one through its [`Cx`](crate::Cx).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// The node's name.
    pub node: Cow<'static, str>,
    /// The step of a flow that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Position>,
    /// Its number in a map or batch, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
    /// How often a map put its item back before this call, after a rate limit or an
    /// outage. Each time it had been asked by a call of its own, whose attempts are
    /// in the ledger, too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub put_back: u32,
    /// Its [labels](crate::Call::label), with those of the calls around it and of the run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// When the call began, by the machine's clock.
    #[serde(rename = "started_unix_ms", with = "milliseconds::unix")]
    pub started: SystemTime,
    /// The category of the call's error. `None`: it has an output.
    pub category: Option<Category>,
    /// Whether the output came from a fallback. The attempts show what failed before.
    #[serde(rename = "degraded", skip_serializing_if = "Option::is_none")]
    pub used_fallback: Option<UsedFallback>,
    /// What is another than when the conversation stopped that this call went on
    /// with: `instructions`, `prompt`, `output`, `model`, and tools that were
    /// added, removed or changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_since_pause: Vec<String>,
    /// The attempts, in order. Empty for a node without a model.
    pub attempts: Vec<AttemptRecord>,
    /// The failed executions of a node without a model, in order: the newest 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_tries: Vec<FailedTry>,
    /// The tool calls in answers that this call did not request: from a
    /// conversation that [paused](crate::Paused), or from a journal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed_tools: Vec<ToolRecord>,
    /// How many answers came from a journal. They have no attempt here, but in the
    /// call that asked for them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replayed: u32,
    #[serde(
        default,
        skip_serializing_if = "Replayed::is_none",
        rename = "replayed_usage"
    )]
    pub(crate) replayed_sum: Replayed,
    /// The time from the start to the end, with waits.
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub elapsed: Duration,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl CallRecord {
    /// Returns the first loss of what a provider had in its cache, among the
    /// attempts; otherwise whether anything was kept. See
    /// [`AttemptRecord::cache_lost`].
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// # fn example(report: llmnode::CallReport<String>) {
    /// if report.record.cache_lost().is_lost() {
    ///     println!("{}: {}", report.record.node, report.record.cache_lost());
    /// }
    /// # }
    /// ```
    pub fn cache_lost(&self) -> CacheLost {
        CacheLost::of_all(self.attempts.iter().map(AttemptRecord::cache_lost))
    }

    /// Returns what corrections changed: the members that differ between the first
    /// answer that the schema or a validator complained about, if it was JSON, and
    /// the accepted one. A complaint can be met by changing the wrong member, or by
    /// a value that is made up, so a program may send such rows to a person. At
    /// most 64; empty if nothing was corrected.
    pub fn corrected(&self) -> Vec<Correction> {
        let accepted = self
            .attempts
            .split_last()
            .filter(|(last, _)| last.category.is_none());
        let Some((accepted, before)) = accepted.filter(|_| self.category.is_none()) else {
            return Vec::new();
        };
        let turn = before
            .iter()
            .rposition(|attempt| !attempt.tools.is_empty())
            .map_or(0, |at| at + 1);
        let Some(accepted) = accepted.answer.as_deref() else {
            return Vec::new();
        };
        let refused = before[turn..]
            .iter()
            .filter(|attempt: &&AttemptRecord| {
                matches!(
                    attempt.category,
                    Some(Category::ValidationError | Category::SchemaError)
                )
            })
            .filter_map(|attempt| attempt.answer.as_deref());
        refused
            .into_iter()
            .find_map(|refused| corrected(refused, accepted))
            .unwrap_or_default()
    }

    /// Returns the usage of all attempts.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        self.attempts.iter().for_each(|attempt| usage.add(attempt));
        usage
    }

    /// Returns what the [replayed](CallRecord::replayed) answers used when they
    /// were asked for, with the attempts that failed before them. It is not part of
    /// [`usage`](CallRecord::usage). If the journal does not have the usage, an
    /// answer counts as one request of unknown usage.
    pub fn replayed_usage(&self) -> Usage {
        self.replayed_sum.usage()
    }

    /// Returns what went wrong first, such as `rate_limit_error: slow down`: for a
    /// call that [used a fallback](CallRecord::used_fallback), the cause. `None`:
    /// nothing did.
    pub fn first_failure(&self) -> Option<String> {
        let failed_attempt = self
            .attempts
            .iter()
            .find_map(|attempt| Some((attempt.category?, &attempt.message)));
        let failed_execution = self
            .failed_tries
            .iter()
            .map(|one| (one.category, &one.message))
            .next();
        failed_attempt
            .or(failed_execution)
            .map(|(category, message)| format!("{category}: {message}"))
    }

    /// Returns the last text of the model, if there is one.
    pub fn last_answer(&self) -> Option<&str> {
        self.attempts
            .iter()
            .rev()
            .find_map(|attempt| attempt.answer.as_deref())
    }
}

/// A record as a journal keeps it.
pub trait JournalForm {
    /// An attempt without its content, a call without its attempts.
    #[must_use]
    fn for_journal(&self) -> Self;
}

impl JournalForm for AttemptRecord {
    fn for_journal(&self) -> Self {
        AttemptRecord {
            message: String::new(),
            violations: Vec::new(),
            answer: None,
            sent: None,
            ..self.clone()
        }
    }
}

impl JournalForm for CallRecord {
    fn for_journal(&self) -> Self {
        CallRecord {
            attempts: Vec::new(),
            ..self.clone()
        }
    }
}

impl Usage {
    pub(super) fn add(&mut self, request: &AttemptRecord) {
        if request.unsent {
            return;
        }
        self.add_one(request.usage.unwrap_or_default(), request.cost);
        self.estimated = self
            .estimated
            .saturating_add(request.estimate.unwrap_or_default().total());
    }
}

impl From<&AttemptRecord> for Usage {
    fn from(request: &AttemptRecord) -> Self {
        let mut usage = Usage::default();
        usage.add(request);
        usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_json() {
        use AttemptKind::*;
        for kind in [First, Correction, Retry, Adapted, FallbackModel, Turn] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        for used_fallback in [UsedFallback::Model, UsedFallback::Value] {
            assert_eq!(
                serde_json::to_value(used_fallback).unwrap(),
                used_fallback.as_str()
            );
        }
    }

    #[test]
    fn the_old_name_of_the_response_format_is_read() {
        let id = llmnode_model::internal::Ids::default().next().attempt(0);
        let record = AttemptRecord::new(id, AttemptKind::First, (None, Duration::ZERO), None);
        let mut json = serde_json::to_value(record).unwrap();
        json["dialect"] = "tool".into();
        let read: AttemptRecord = serde_json::from_value(json).unwrap();
        assert_eq!(read.response_format, Some(ResponseFormat::Tool));
    }
}
