//! The settings of a call, of all calls of a run, of a model, and of a node.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::mem::{forget, replace};
use std::time::Duration;

use serde_json::Value;

use super::recovery::{Backoff, Failures, Recovery};
use crate::limits::Limits;
use crate::model::Dialect;
use crate::text::const_setters;

/// How a model is asked, and what follows a failure. One type for all levels:
///
/// | level | stated by |
/// |---|---|
/// | a call | [`Call::settings`](crate::Call::settings), and the methods of [`Call`](crate::Call) |
/// | a registered model | [`Run::model_with`](crate::Run::model_with) |
/// | a run | [`Run::with_settings`](crate::Run::with_settings) |
/// | a node | the attribute of the node, [`Node::SETTINGS`](crate::Node::SETTINGS) |
///
/// The nearest level wins, field by field: the call, then the model, the run, the node, and at last the model's handle.
/// A registered model states only how it is asked: its id as `model`, `temperature`, `max_tokens`, `attempt_timeout`,
/// `dialect`, `extra`. A value that cannot be is a `config_error` of the call, before any request.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::Settings;
///
/// let settings = Settings::new().temperature(0.0).retries(1);
/// assert_eq!(settings.retries, Some(1));
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Settings {
    /// The model to ask: a name registered on the run, or else the provider's id. Of a registered model: its id. Default:
    /// the model's own.
    pub model: Option<Cow<'static, str>>,
    /// Sampling temperature, finite and 0 or more. Default: the provider's.
    pub temperature: Option<f64>,
    /// The most tokens an answer may have, 1 or more. Default: the provider's.
    pub max_tokens: Option<u32>,
    /// How the type of an answer is told. Default: as the model does by itself. A run's `dialect` does not concern nodes
    /// whose answer is raw text; the call's own is an error there. So is, whatever the model,
    /// [`Strict`](Dialect::Strict) for a type that it cannot say.
    pub dialect: Option<Dialect>,
    /// More calls after a bad answer: short for `recover` of the answer group with as many `repair` steps, the fallback
    /// model and the fallback value. Default 0. On a node whose answer is raw text the run's `retries` hold for empty
    /// answers alone; the call's own are an error there.
    pub retries: Option<u32>,
    /// More tries of the same request after a failure of the transport: short for `recover` of the transport group with as
    /// many `retry` steps, the fallback model and the fallback value. Default 2.
    pub transport_retries: Option<u32>,
    /// How often a node that asks no model itself is executed in all, 1 or more: again after each error, but not after one
    /// of the stop group. A run's `attempts` do not concern nodes that ask a model; the call's own are an error there.
    /// Default 1.
    pub attempts: Option<u32>,
    /// The steps that follow failures of a category or group, set by [`recover`](Settings::recover). A nearer level replaces
    /// a farther one's for a category; at one level a category's stack beats its group's. Default: by
    /// [category](crate::Category).
    pub recover: Cow<'static, [(Failures, Cow<'static, [Recovery]>)]>,
    /// The model to ask when all further tries with the first one failed: a name registered on the run, or else
    /// the provider's id. Default: none.
    pub fallback_model: Option<Cow<'static, str>>,
    /// The wait before each try that follows a failure of the transport, and before each further execution of a node
    /// that asks no model itself: always the same, or growing from try to try. What the server asks for comes on top. A
    /// step of `recover` that states a wait keeps its own. Default: a random part of 0.5 s, 1 s, 2 s, .. 8 s for the
    /// transport, and none for executions.
    pub wait: Option<Backoff>,
    /// The longest time of a call, above 0: all its attempts and waits, and the calls that its node makes. When it has
    /// passed, what is under way is dropped, nothing is tried again, no other model is asked, and the call fails with
    /// `timeout`; a fallback value takes its place, whose function is not timed. Each call of a map has this time for
    /// itself. Default: none.
    pub deadline: Option<Duration>,
    /// The longest time of one attempt, above 0: its wait for room under a limit, its request, and the validators. What
    /// takes longer is a `timeout`, which is tried again as `transport_retries` says. Default: the model's own, of
    /// `OpenAi` 600 s.
    pub attempt_timeout: Option<Duration>,
    /// The longest wait before a further try that a server may ask for; a longer one fails at once. The random part
    /// on top is cut to it, too; a wait that is stated, here or in a step of `recover`, may be longer. Default 60 s.
    pub max_wait: Option<Duration>,
    /// The longest answer, in bytes, 1 or more; a longer one is a `truncated_output`. Default: no bound but the
    /// provider's.
    pub max_output_bytes: Option<usize>,
    /// How many of the newest bad answers the model is shown, each with what was wrong: 1 or more. Default 3.
    pub feedback_rounds: Option<usize>,
    /// Whether the second identical bad answer in a row ends the call, whatever is left of `retries`.
    /// Default: no.
    pub stop_on_repeat: Option<bool>,
    /// Whether an answer is taken only as it stands. Default: no: what is nearly JSON is repaired, and what is nearly of the
    /// type is changed to fit it (`"3"` for an integer), where that loses nothing. Each change is a flag of the attempt.
    pub exact: Option<bool>,
    /// What each call may spend, by itself. What the call does not limit, the run's settings do. Default: no limits.
    pub limits: Limits,
    /// What the records, spans and hooks of calls say beside their figures: a tenant, a job. The labels of a call are its
    /// own, those of the run, and those of the calls around it; of two of one name the nearest wins. Default: none.
    pub labels: BTreeMap<String, String>,
    /// Further fields of the request, passed to the provider as they are. `messages`, `model`, `stream`, and a field
    /// of which there is a setting that is set, are a `config_error` of the call.
    pub extra: BTreeMap<String, Value>,
}

/// The settings of whoever says nothing.
pub(crate) const SILENT: &Settings = &Settings::new();

/// Shows the names of the further fields, not what is in them.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("model", &self.model)
            .field("temperature", &self.temperature)
            .field("max_tokens", &self.max_tokens)
            .field("dialect", &self.dialect)
            .field("retries", &self.retries)
            .field("transport_retries", &self.transport_retries)
            .field("attempts", &self.attempts)
            .field("recover", &self.recover)
            .field("fallback_model", &self.fallback_model)
            .field("wait", &self.wait)
            .field("deadline", &self.deadline)
            .field("attempt_timeout", &self.attempt_timeout)
            .field("max_wait", &self.max_wait)
            .field("max_output_bytes", &self.max_output_bytes)
            .field("feedback_rounds", &self.feedback_rounds)
            .field("stop_on_repeat", &self.stop_on_repeat)
            .field("exact", &self.exact)
            .field("limits", &self.limits)
            .field("labels", &self.labels)
            .field("extra", &self.extra.keys())
            .finish()
    }
}

/// The setters of what holds settings, and lends them by `given`.
macro_rules! setters {
    ($($(#[$about:meta])* $setting:ident: $type:ty,)*) => {$(
        $(#[$about])*
        pub fn $setting(mut self, $setting: $type) -> Self {
            self.given().$setting = Some($setting.into());
            self
        }
    )*};
}
pub(crate) use setters;

impl Settings {
    /// What `max_wait` is, if nothing is said.
    pub(crate) const MAX_WAIT: Duration = Duration::from_secs(60);

    /// Nothing set.
    pub const fn new() -> Self {
        Settings {
            model: None,
            temperature: None,
            max_tokens: None,
            dialect: None,
            retries: None,
            transport_retries: None,
            attempts: None,
            recover: Cow::Borrowed(&[]),
            fallback_model: None,
            wait: None,
            deadline: None,
            attempt_timeout: None,
            max_wait: None,
            max_output_bytes: None,
            feedback_rounds: None,
            stop_on_repeat: None,
            exact: None,
            limits: Limits::new(),
            labels: BTreeMap::new(),
            extra: BTreeMap::new(),
        }
    }

    /// Sets the model: a name registered on the run, or else the provider's id.
    #[must_use]
    pub fn model(mut self, model: impl Into<Cow<'static, str>>) -> Self {
        self.model = Some(model.into());
        self
    }

    const_setters! {
        /// Sets the temperature.
        temperature: f64,
        /// Sets the most tokens an answer may have.
        max_tokens: u32,
        /// Sets how the type of an answer is told.
        dialect: Dialect,
        /// Sets how many more calls follow bad answers.
        retries: u32,
        /// Sets how many more tries follow failures of the transport.
        transport_retries: u32,
        /// Sets how often a node that asks no model itself is executed in all.
        attempts: u32,
        /// Sets the longest time of a call.
        deadline: Duration,
        /// Sets the longest time of one attempt.
        attempt_timeout: Duration,
        /// Sets the longest wait that a server may ask for.
        max_wait: Duration,
        /// Sets the longest answer, in bytes.
        max_output_bytes: usize,
        /// Sets how many of the newest bad answers the model is shown.
        feedback_rounds: usize,
        /// Sets whether the second identical bad answer in a row ends the call.
        stop_on_repeat: bool,
        /// Sets whether an answer is taken only as it stands: nothing is repaired, and nothing changed to fit the type.
        exact: bool,
    }

    /// Sets the steps that follow failures of a category or group, instead of those set for it so far.
    #[must_use]
    pub fn recover(
        mut self,
        failures: impl Into<Failures>,
        steps: impl IntoIterator<Item = Recovery>,
    ) -> Self {
        let failures = failures.into();
        let stacks = self.recover.to_mut();
        stacks.retain(|(key, _)| *key != failures);
        stacks.push((failures, steps.into_iter().collect()));
        self
    }

    /// Sets the model to ask when the first one fails for good.
    #[must_use]
    pub fn fallback_model(mut self, model: impl Into<Cow<'static, str>>) -> Self {
        self.fallback_model = Some(model.into());
        self
    }

    /// Sets the wait before each further try, in a constant.
    #[must_use]
    pub const fn backoff(mut self, wait: Backoff) -> Self {
        self.wait = Some(wait);
        self
    }

    /// Sets the wait before each further try: a `Duration`, or a range of them.
    #[must_use]
    pub fn wait(mut self, wait: impl Into<Backoff>) -> Self {
        self.wait = Some(wait.into());
        self
    }

    /// Sets what each call may spend, by itself.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds a label, such as `("tenant", "x")`.
    #[must_use]
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(name.into(), value.into());
        self
    }

    /// Adds a further field to the request, such as `("seed", 7)`.
    #[must_use]
    pub fn extra(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(field.into(), value.into());
        self
    }
}

/// What macros state in a constant, where nothing can be dropped.
impl Settings {
    /// States the model.
    #[doc(hidden)]
    #[must_use]
    pub const fn stated_model(mut self, model: &'static str) -> Self {
        forget(self.model.replace(Cow::Borrowed(model)));
        self
    }

    /// States the fallback model.
    #[doc(hidden)]
    #[must_use]
    pub const fn stated_fallback_model(mut self, model: &'static str) -> Self {
        forget(self.fallback_model.replace(Cow::Borrowed(model)));
        self
    }

    /// States the steps that follow failures.
    #[doc(hidden)]
    #[must_use]
    pub const fn stated_recover(mut self, stacks: &'static [(Failures, Cow<'static, [Recovery]>)]) -> Self {
        forget(replace(&mut self.recover, Cow::Borrowed(stacks)));
        self
    }
}
