//! The settings of a call, of all calls of a run, of a model, and of a node.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::mem::{forget, replace};
use std::time::Duration;

use llmnode_model::internal::join_field;
use llmnode_model::{ApiKind, Cache, Reasoning, ResponseFormat};
use serde_json::{Map, Value};

use super::recovery::{Backoff, Failures, Recovery};
use crate::limits::Limits;
use crate::text::const_setters;

/// How a model is asked, and what follows a failure. All levels have this one type:
///
/// | level | stated by |
/// |---|---|
/// | a call | [`Call::settings`](crate::Call::settings), and the methods of [`Call`](crate::Call) |
/// | a registered model | [`Run::model_with`](crate::Run::model_with) |
/// | a run | [`Run::with_settings`](crate::Run::with_settings) |
/// | a node | the attribute of the node, [`Node::SETTINGS`](crate::Node::SETTINGS) |
///
/// The nearest level wins, field by field: the call, then the registered model, the
/// run, the node, and last the model's handle. A registered model sets only how it
/// is asked: its id as `model`, `temperature`, `max_tokens`, `reasoning`,
/// `attempt_timeout`, `response_format`, `cache`, `window`, `extra`, `extra_on`. An
/// impossible value is a `config_error` of the call, before any request.
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
    /// The model to ask: a name registered on the run, or else the provider's id.
    /// For a registered model, its id. Default: the model's own.
    pub model: Option<Cow<'static, str>>,
    /// The sampling temperature, finite and 0 or more. Default: the provider's.
    pub temperature: Option<f64>,
    /// The most tokens an answer may have, 1 or more. Default: the provider's.
    pub max_tokens: Option<u32>,
    /// How much the model thinks before it answers. Default: the model decides.
    pub reasoning: Option<Reasoning>,
    /// How the model is asked for the type of an answer. Default: the model
    /// decides. A run's `response_format` does not apply to nodes whose answer is
    /// raw text; a call's is an error there. So is
    /// [`Strict`](ResponseFormat::Strict) for a type that it cannot express.
    pub response_format: Option<ResponseFormat>,
    /// Further requests after a bad answer. It is short for `recover` of the group
    /// answer with as many `repair` steps, then the fallbacks. Default 0. For a
    /// node whose answer is raw text, a run's `retries` apply to empty answers
    /// only; a call's are an error there.
    pub retries: Option<u32>,
    /// Further requests after a failure of the transport. It is short for `recover`
    /// of the group transport with as many `retry` steps, then the fallbacks.
    /// Default 2.
    pub transport_retries: Option<u32>,
    /// How often a node without a model is executed in all, 1 or more. It is
    /// executed again after every error but those of the group stop. A run's
    /// `attempts` do not apply to nodes that ask a model; a call's are an error
    /// there. Default 1.
    pub attempts: Option<u32>,
    /// The steps that follow failures of a category or group, set by
    /// [`recover`](Settings::recover). A nearer level replaces the steps of a
    /// farther one for a category. On one level, a category comes before its group.
    /// Default: by [category](crate::Category).
    pub recover: Cow<'static, [(Failures, Cow<'static, [Recovery]>)]>,
    /// The model to ask when the first one has failed: a name registered on the
    /// run, or else the provider's id. Default: none.
    pub fallback_model: Option<Cow<'static, str>>,
    /// The wait before each retry after a failure of the transport, and before each
    /// further execution of a node without a model. It is fixed, or grows from try
    /// to try. The wait that the server asks for is added. A step of `recover` with
    /// its own wait keeps it. Default: a random part of 0.5 s, 1 s, 2 s, .. 8 s for
    /// the transport, and none for executions.
    pub wait: Option<Backoff>,
    /// The longest time of a call, above 0: all its attempts and waits, and the
    /// calls that its node makes. When it passes, what is under way is dropped,
    /// nothing is retried, and no other model is asked. The call returns the node's
    /// fallback value, whose function is not timed, or fails with `timeout`. Each
    /// call of a map has this time for itself. Default: none.
    pub deadline: Option<Duration>,
    /// The longest time of one attempt, above 0: its wait for room under a limit,
    /// its request, and its validators. An attempt that takes longer is a
    /// `timeout`, which is retried as `transport_retries` says. Default: the
    /// model's own, 600 s for `OpenAi`.
    pub attempt_timeout: Option<Duration>,
    /// The longest wait that a server may ask for. If it asks for more, there is no
    /// retry. The random part on top is cut to it too. A wait set here or in a step
    /// of `recover` may be longer. Default 60 s.
    pub max_wait: Option<Duration>,
    /// The longest answer in bytes, 1 or more. A longer one is a
    /// `truncated_output`. Default: no limit but the provider's.
    pub max_output_bytes: Option<usize>,
    /// How many of the newest bad answers a correction contains, each with what was
    /// wrong: 1 or more. Default 3.
    pub feedback_rounds: Option<usize>,
    /// Whether the second identical bad answer in a row ends the corrections: a
    /// model that wrote the same again writes it a third time. Fallbacks follow.
    /// Default: yes.
    pub stop_on_repeat: Option<bool>,
    /// Whether an answer is taken only as it is. Default: no. Then what is nearly
    /// JSON is repaired, and what is nearly of the type is changed to fit it (`"3"`
    /// for an integer), if nothing is lost. Each change is a flag of the attempt.
    pub exact: Option<bool>,
    /// Whether a text that is a call of a tool, and nothing else, is executed as
    /// that call, where the model's server knows no calls. Default: yes, but for
    /// tools with `idempotent = false` or `require_approval`: these need `true` in
    /// the attribute of the node itself. Then the attempt has the flag
    /// [`CallInText`](llmnode_reader::Flag::CallInText). Markup of calls that
    /// cannot be read is told to the model. `false`: all of it is text.
    pub calls_in_text: Option<bool>,
    /// Whether thoughts that stand in a text, such as `<think>..</think>` first in
    /// it, are read as thoughts. Default: yes. Then they are
    /// [`Event::Reasoning`](crate::Event::Reasoning), in neither the answer nor the
    /// history, and the attempt has the flag
    /// [`AfterThinking`](llmnode_reader::Flag::AfterThinking). Otherwise they stay
    /// in the text. Typed answers are what follows the thoughts in any case.
    pub thoughts_in_text: Option<bool>,
    /// Whether the provider is asked to keep the beginning of prompts, so that it
    /// is paid for once. Default:
    /// [`Auto`](Cache::Auto), which asks for it where a second request with the same beginning is likely. It changes no answer.
    pub cache: Option<Cache>,
    /// The tokens that the model's window has, prompt and answer together, 1 or
    /// more. Default: what the run's prices list
    /// ([`Price::window`](crate::Price::window)), or what the server names when it
    /// refuses a prompt. It changes nothing of what is sent:
    /// [`Compact`](crate::Compact) and tools that are
    /// [deferred](crate::Toolset::deferred) go by it.
    pub window: Option<u32>,
    /// What each call may spend by itself. The run's settings limit what the call's
    /// do not. Default: no limits.
    pub limits: Limits,
    /// Labels for the records, spans and hooks of calls, such as a tenant or a job.
    /// A call has its own labels, the run's, and those of the calls around it. The
    /// nearest wins. Default: none.
    pub labels: BTreeMap<String, String>,
    /// Fields of the request that are passed to the provider as they are.
    /// `messages`, `model`, `stream`, and a field that a setting sets, are a
    /// `config_error` of the call.
    pub extra: BTreeMap<String, Value>,
    /// Such fields for one API alone. Those of all levels are joined to each other,
    /// to `extra`, and to what the request has already: objects are merged, lists
    /// are joined, and of anything else the nearest level's counts. A field here
    /// goes before the setting that would set it.
    pub extra_on: Option<Box<BTreeMap<ApiKind, Map<String, Value>>>>,
}

pub(crate) const EMPTY_SETTINGS: &Settings = &Settings::new();

/// Shows the names of `extra`, but no values.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("model", &self.model)
            .field("temperature", &self.temperature)
            .field("max_tokens", &self.max_tokens)
            .field("reasoning", &self.reasoning)
            .field("response_format", &self.response_format)
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
            .field("calls_in_text", &self.calls_in_text)
            .field("thoughts_in_text", &self.thoughts_in_text)
            .field("cache", &self.cache)
            .field("window", &self.window)
            .field("limits", &self.limits)
            .field("labels", &self.labels)
            .field("extra", &self.extra.keys())
            .field(
                "extra_on",
                &self
                    .extra_on
                    .iter()
                    .flat_map(|all| all.iter())
                    .map(|(wire, fields)| (wire, fields.keys()))
                    .collect::<Vec<_>>(),
            )
            .finish()
    }
}

/// For types that lend their settings by `overrides`.
macro_rules! setters {
    ($($(#[$about:meta])* $setting:ident: $type:ty,)*) => {$(
        $(#[$about])*
        pub fn $setting(mut self, $setting: $type) -> Self {
            self.overrides().$setting = Some($setting.into());
            self
        }
    )*};
}
pub(crate) use setters;

impl Settings {
    pub(crate) const MAX_WAIT: Duration = Duration::from_secs(60);

    /// Creates settings that set nothing.
    pub const fn new() -> Self {
        Settings {
            model: None,
            temperature: None,
            max_tokens: None,
            reasoning: None,
            response_format: None,
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
            calls_in_text: None,
            thoughts_in_text: None,
            cache: None,
            window: None,
            limits: Limits::new(),
            labels: BTreeMap::new(),
            extra: BTreeMap::new(),
            extra_on: None,
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
        /// Sets how much the model thinks before it answers.
        reasoning: Reasoning,
        /// Sets how the model is asked for the type of an answer.
        response_format: ResponseFormat,
        /// Sets how many further requests follow a bad answer.
        retries: u32,
        /// Sets how many further requests follow a failure of the transport.
        transport_retries: u32,
        /// Sets how often a node without a model is executed in all.
        attempts: u32,
        /// Sets the longest time of a call. Without it, and without
        /// `attempt_timeout`, a server that takes the request and never answers is
        /// waited for as long as its connection lives.
        deadline: Duration,
        /// Sets the longest time of one attempt.
        attempt_timeout: Duration,
        /// Sets the longest wait that a server may ask for.
        max_wait: Duration,
        /// Sets the longest answer, in bytes.
        max_output_bytes: usize,
        /// Sets how many of the newest bad answers a correction contains.
        feedback_rounds: usize,
        /// Sets whether the second identical bad answer in a row ends the corrections.
        stop_on_repeat: bool,
        /// Sets whether an answer has to be exact: nothing is repaired or changed to fit the type.
        exact: bool,
        /// Sets whether a text that is a call of a tool is executed as that call.
        calls_in_text: bool,
        /// Sets whether thoughts that stand in a text are read as thoughts, and are no part of it.
        thoughts_in_text: bool,
        /// Sets whether the provider is asked to keep the beginning of prompts in its cache.
        cache: Cache,
        /// Sets how many tokens the model's window has.
        window: u32,
    }

    /// Sets the steps that follow failures of a category or group, and replaces
    /// those set for it so far.
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

    /// Sets the model to ask when the first one has failed.
    #[must_use]
    pub fn fallback_model(mut self, model: impl Into<Cow<'static, str>>) -> Self {
        self.fallback_model = Some(model.into());
        self
    }

    /// Sets the wait before each retry, in a constant.
    #[must_use]
    pub const fn backoff(mut self, wait: Backoff) -> Self {
        self.wait = Some(wait);
        self
    }

    /// Sets the wait before each retry: a `Duration`, or a range of them.
    #[must_use]
    pub fn wait(mut self, wait: impl Into<Backoff>) -> Self {
        self.wait = Some(wait.into());
        self
    }

    /// Sets what each call may spend by itself.
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

    /// Adds a field to the request, such as `("seed", 7)`.
    #[must_use]
    pub fn extra(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(field.into(), value.into());
        self
    }

    /// Adds a field to the requests of one API alone, such as `(ApiKind::Gemini,
    /// "safetySettings", json!([..]))`. An object is merged with what the request
    /// has there, a list joined to it.
    #[must_use]
    pub fn extra_on(
        mut self,
        api: ApiKind,
        field: impl AsRef<str>,
        value: impl Into<Value>,
    ) -> Self {
        join_field(
            self.extra_on
                .get_or_insert_default()
                .entry(api)
                .or_default(),
            field.as_ref(),
            &value.into(),
        );
        self
    }
}

/// Constants of generated code cannot drop values.
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
    pub const fn stated_recover(
        mut self,
        stacks: &'static [(Failures, Cow<'static, [Recovery]>)],
    ) -> Self {
        forget(replace(&mut self.recover, Cow::Borrowed(stacks)));
        self
    }
}
