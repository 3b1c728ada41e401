//! Sets up and checks nodes that are known at run time.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::{Cache, Category, Reasoning, ResponseFormat};
use llmnode_reader::OutputSchema;
use llmnode_reader::ext::read_json_of;
use llmnode_reader::internal;
use serde_json::Value;

use super::{DynNode, Setup, supported};
use crate::error::NodeError;
use crate::limits::Limits;
use crate::output::{LlmOutput, Untyped};
use crate::run::{Compact, Toolset};
use crate::settings::{Backoff, Failures, Recovery, Settings, faults, setters};
use crate::text::impl_debug;
use crate::validate::uncovered;

/// Builds a [`DynNode`]. [`build`](Self::build) checks everything together.
#[must_use = "a builder does nothing until `build`"]
pub struct DynNodeBuilder {
    name: Cow<'static, str>,
    system_prompt: String,
    examples: Vec<(String, Value)>,
    output: Option<Output>,
    settings: Settings,
    tools: Toolset,
    turns: Option<u32>,
    compact: Option<Compact>,
    summariser: Option<DynNode>,
}

enum Output {
    Text,
    Typed(Untyped),
    Schema(Value),
}

impl DynNode {
    /// Returns a builder for a node with this name, which appears in ledgers and errors.
    pub fn builder(name: impl Into<Cow<'static, str>>) -> DynNodeBuilder {
        DynNodeBuilder::new(name.into())
    }
}

impl DynNodeBuilder {
    pub(super) fn new(name: Cow<'static, str>) -> Self {
        DynNodeBuilder {
            name,
            system_prompt: String::new(),
            examples: Vec::new(),
            output: None,
            settings: Settings::new(),
            tools: Toolset::new(),
            turns: None,
            compact: None,
            summariser: None,
        }
    }

    /// Sets the system message. Default: none. For a model that takes no schema, a form of the answer is added to it.
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.system_prompt = text.into();
        self
    }

    /// Adds an example, which is sent before the input: the text of a user message, and what the model is to answer. An answer
    /// that does not fit the output is a `prep_error` of the call.
    pub fn example(mut self, input: impl Into<String>, answer: impl Into<Value>) -> Self {
        self.examples.push((input.into(), answer.into()));
        self
    }

    /// Makes the answer plain text, which is neither read nor checked.
    pub fn text(mut self) -> Self {
        self.output = Some(Output::Text);
        self
    }

    /// Sets the type of the answer. A type with validators is refused, since they may need a state.
    pub fn output<T: LlmOutput>(mut self) -> Self {
        self.output = Some(Output::Typed(Untyped {
            schema: OutputSchema::of::<T>(),
            check: Arc::new(read_json_of::<T>),
        }));
        self
    }

    /// Sets the JSON Schema of the answer. These keywords are checked: `type`, `enum`, `const`, `properties`,
    /// `required`, `additionalProperties`, `minProperties`, `maxProperties`, `items`, `prefixItems`, `minItems`,
    /// `maxItems`, `uniqueItems`, `minLength`, `maxLength`, `minimum`, `maximum`, `exclusiveMinimum`,
    /// `exclusiveMaximum`, `multipleOf`, `allOf`, `anyOf`, `oneOf`, `not` and `$ref` within the schema. `format` and
    /// annotations are for the model alone. Any other keyword is an error.
    pub fn output_schema(mut self, schema: impl Into<Value>) -> Self {
        self.output = Some(Output::Schema(schema.into()));
        self
    }

    setters! {
        /// Sets the model: a name registered on the run, or else the provider's id. Default: the run's own.
        model: impl Into<Cow<'static, str>>,
        /// Sets the sampling temperature, 0 or more. Default: the provider's.
        temperature: f64,
        /// Sets the most tokens an answer may have, 1 or more. Default: the provider's.
        max_tokens: u32,
        /// Sets how much the model thinks before it answers. Default: the model decides.
        reasoning: Reasoning,
        /// Sets whether the provider is asked to keep the beginning of prompts in its cache. Default: where a second request with
        /// the same beginning is likely.
        cache: Cache,
        /// Sets how many tokens the model's window has. Default: looked up as [`Settings::window`] says.
        window: u32,
        /// Sets how the model is asked for the type of the answer. Default: the model decides.
        response_format: ResponseFormat,
        /// Sets whether an answer is taken only as it stands: nothing is repaired or changed to fit the schema.
        /// Default: no.
        exact: bool,
        /// Sets how many corrections follow a bad answer. Default: the same request once more, then two corrections.
        retries: u32,
        /// Sets how many further requests follow a failure of the transport. Default: three after `rate_limit_error`,
        /// each after 2 s on top of what the server asks for, otherwise two.
        transport_retries: u32,
        /// Sets the model to ask when the first one has failed. It is part of the default steps only.
        fallback_model: impl Into<Cow<'static, str>>,
    }

    /// Sets what each call may spend by itself.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings = self.settings.limits(limits);
        self
    }

    /// Sets the tools that the model may call before it answers.
    pub fn tools(mut self, tools: Toolset) -> Self {
        self.tools = tools;
        self
    }

    /// Sets how many responses of the model there are at most, with tools; the last one has to be the answer. Default: 10.
    pub fn turns(mut self, turns: u32) -> Self {
        self.turns = Some(turns);
        self
    }

    /// Sets how a conversation is kept short enough for the model. Default: it is sent as it is.
    pub fn compact(mut self, rules: Compact) -> Self {
        self.compact = Some(rules);
        self
    }

    /// Sets the node that sums up the part of a conversation before its last rounds, where leaving out results is not enough: its
    /// input is a [`Transcript`](crate::Transcript) in a fence, and its output a [`Summary`](crate::Summary). It means nothing
    /// without [`compact`](Self::compact).
    pub fn summed_up_by(mut self, node: DynNode) -> Self {
        self.summariser = Some(node);
        self
    }

    /// Sets the steps that follow failures of a category or group.
    pub fn recover(
        mut self,
        failures: impl Into<Failures>,
        steps: impl IntoIterator<Item = Recovery>,
    ) -> Self {
        self.settings = self.settings.recover(failures, steps);
        self
    }

    fn overrides(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Checks the settings and returns the node.
    ///
    /// # Errors
    /// A `config_error` that lists every fault: an empty name, no output, a schema that cannot be checked, settings
    /// and steps that make no sense.
    pub fn build(self) -> Result<DynNode, NodeError> {
        let DynNodeBuilder {
            name,
            system_prompt,
            examples,
            output,
            mut settings,
            tools,
            turns,
            compact,
            summariser,
        } = self;
        let mut found = Vec::new();
        if name.trim().is_empty() {
            found.push("the name is empty".to_owned());
        }
        let is_text = matches!(output, Some(Output::Text));
        let output = built_output(output, &name, &mut found);
        if turns == Some(0) {
            found.push("`turns` is 0: without a response there is no answer".to_owned());
        }
        if turns.is_some() && tools.is_empty() {
            found.push(
                "`turns` counts the responses of a node with tools, and there are none".to_owned(),
            );
        }
        found.extend(compact.as_ref().and_then(Compact::fault));
        if summariser.is_some() && compact.is_none() {
            found.push("`summed_up_by` is set without `compact`, which says when".to_owned());
        }
        add_defaults(&mut settings, is_text);
        found.extend(faults(&settings));
        match output.filter(|_| found.is_empty()) {
            Some(output) => Ok(DynNode::new(Setup {
                name,
                system_prompt,
                examples,
                output,
                settings,
                tools,
                turns,
                compact,
                summariser,
            })),
            None => {
                let message = format!("the node {name:?} cannot be built: {}", found.join("; "));
                Err(NodeError::new(Category::ConfigError, message))
            }
        }
    }
}

/// `None`: there is none that can be read, which `faults` says. `Some(None)`: the answer is a text.
fn built_output(
    output: Option<Output>,
    name: &str,
    faults: &mut Vec<String>,
) -> Option<Option<Untyped>> {
    match output {
        Some(Output::Text) => Some(None),
        Some(Output::Typed(typed)) => match uncovered(&typed.schema, |_| {}).as_deref() {
            None => Some(Some(typed)),
            Some(internal::Uncovered { mark, .. }) => {
                faults.push(format!(
                    "the validators of `{mark}` would never run; use `#[llm_node]` for this output"
                ));
                None
            }
        },
        Some(Output::Schema(schema)) => {
            let of_schema = supported::faults(&schema);
            faults.extend(
                of_schema
                    .into_iter()
                    .map(|fault| format!("output_schema {fault}")),
            );
            faults
                .is_empty()
                .then(|| Some(Untyped::by_schema(name, schema)))
        }
        None => {
            faults.push(
                "there is no output: set `output::<T>()`, `output_schema(..)` or `text()`"
                    .to_owned(),
            );
            None
        }
    }
}

/// Of these steps, then the fallback model, if there is one.
fn stack(steps: &[Recovery], model: &Option<Recovery>) -> Cow<'static, [Recovery]> {
    steps
        .iter()
        .cloned()
        .chain(model.clone())
        .chain([Recovery::Bubble])
        .collect()
}

fn has_stack(settings: &Settings, failures: &[Failures]) -> bool {
    settings
        .recover
        .iter()
        .any(|(key, _)| failures.contains(key))
}

fn add_defaults(settings: &mut Settings, is_text: bool) {
    let model = settings.fallback_model.clone().map(Recovery::Model);
    let answer = stack(&[Recovery::retry(1), Recovery::repair(2)], &model);
    let wait = Backoff::fixed(Duration::from_secs(2));
    let rate_limit = stack(&[Recovery::retry_with(3, wait)], &model);
    let limited = Failures::Category(Category::RateLimitError);
    // Text is never a bad answer.
    let own_answer =
        is_text || settings.retries.is_some() || has_stack(settings, &[Failures::Answer]);
    let own_transport = settings.transport_retries.is_some()
        || has_stack(settings, &[Failures::Transport, limited]);
    let stacks = settings.recover.to_mut();
    stacks.extend((!own_answer).then_some((Failures::Answer, answer)));
    stacks.extend((!own_transport).then_some((limited, rate_limit)));
}

impl_debug!(DynNodeBuilder: name, settings);
