//! What a node states about its calls.

use std::time::Duration;

use super::recovery::{Backoff, Failures, Recovery};
use crate::limits::Limits;

/// The settings that a node's attributes state; every call of the node starts from them.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Attributes {
    /// The model to ask: a name registered on the run, or else the provider's id.
    pub model: Option<&'static str>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// The most tokens an answer may have.
    pub max_tokens: Option<u32>,
    /// More calls after a bad answer.
    pub retries: Option<u32>,
    /// More tries of the same request after a failure of the transport.
    pub transport_retries: Option<u32>,
    /// How often a node that asks no model itself is executed in all, 1 or more.
    pub attempts: Option<u32>,
    /// The wait before each further try.
    pub wait: Option<Backoff>,
    /// The longest wait that a server may ask for.
    pub max_wait: Option<Duration>,
    /// The steps that follow a failure, for those failures that have other ones than by default.
    pub recover: &'static [(Failures, &'static [Recovery])],
    /// The model to ask when all further tries with the first one failed: a name registered on the run, or else the
    /// provider's id.
    pub fallback_model: Option<&'static str>,
    /// Whether the node has a fallback value.
    pub fallback: bool,
    /// Whether a call of the node executes it once at most: nothing is tried again, and no other model is asked, whatever
    /// the run says. A call that asks for it is a `config_error`.
    pub once: bool,
    /// Whether JSON of another type is changed into what the output's schema asks for.
    pub coerce: bool,
    /// What all calls of the node in a run may spend together.
    pub limits: Limits,
}

impl Attributes {
    /// Nothing stated.
    pub const fn new() -> Self {
        Attributes {
            model: None,
            temperature: None,
            max_tokens: None,
            retries: None,
            transport_retries: None,
            attempts: None,
            wait: None,
            max_wait: None,
            recover: &[],
            fallback_model: None,
            fallback: false,
            once: false,
            coerce: false,
            limits: Limits::new(),
        }
    }

    /// States the model.
    #[must_use]
    pub const fn model(mut self, model: &'static str) -> Self {
        self.model = Some(model);
        self
    }

    /// States the temperature.
    #[must_use]
    pub const fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// States the most tokens an answer may have.
    #[must_use]
    pub const fn max_tokens(mut self, max_tokens: u32) -> Self {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// States how many more calls follow bad answers.
    #[must_use]
    pub const fn retries(mut self, retries: u32) -> Self {
        self.retries = Some(retries);
        self
    }

    /// States how many more tries follow failures of the transport.
    #[must_use]
    pub const fn transport_retries(mut self, transport_retries: u32) -> Self {
        self.transport_retries = Some(transport_retries);
        self
    }

    /// States how often a node that asks no model itself is executed in all: once, if not stated. None is an error of
    /// the compiler where the node is called.
    ///
    /// ```compile_fail,E0080
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{Attributes, Cx, Exec, Node, NodeError, Run, ScriptedModel};
    ///
    /// struct Never;
    /// impl Node for Never {
    ///     type Output = ();
    ///     const NAME: &'static str = "never";
    ///     const ATTRIBUTES: Attributes = Attributes::new().attempts(0);
    /// }
    /// impl Exec<()> for Never {
    ///     async fn exec(&self, _: &Cx<'_, ()>) -> Result<(), NodeError> {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// drop(Run::new(ScriptedModel::new()).call(&Never));
    /// ```
    #[must_use]
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = Some(attempts);
        self
    }

    /// States the wait before each try that follows a failure of the transport, or before each further execution.
    #[must_use]
    pub const fn wait(mut self, wait: Backoff) -> Self {
        self.wait = Some(wait);
        self
    }

    /// States the longest wait that a server may ask for.
    #[must_use]
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.max_wait = Some(max_wait);
        self
    }

    /// States the steps that follow failures. The table has to be a constant of its own.
    #[must_use]
    pub const fn recover(mut self, stacks: &'static [(Failures, &'static [Recovery])]) -> Self {
        self.recover = stacks;
        self
    }

    /// States the model to ask when the first one fails for good.
    #[must_use]
    pub const fn fallback_model(mut self, model: &'static str) -> Self {
        self.fallback_model = Some(model);
        self
    }

    /// States that the node has a fallback value.
    #[must_use]
    pub const fn fallback(mut self) -> Self {
        self.fallback = true;
        self
    }

    /// States that a call executes the node once at most: `idempotent = false`.
    #[must_use]
    pub const fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// States that JSON of another type is changed into what the output's schema asks for, where that loses nothing.
    #[must_use]
    pub const fn coerce(mut self) -> Self {
        self.coerce = true;
        self
    }

    /// States what all calls of the node in a run may spend together.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}
