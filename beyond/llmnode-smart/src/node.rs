//! Runs a node with a goal, with the run's program for it or as declared.

use std::borrow::Cow;
use std::future::Future;

use llmnode_runtime::internal::CxInternals as _;
use llmnode_runtime::private::{
    Choices, ChosenValues, FallbackFuture, LlmNode, OutputSpec, Prompt, Tools, exec as ask,
};
use llmnode_runtime::{
    BoxError, Category, ChatModel, Cx, Exec, Node, NodeError, NodeFacts, Settings,
};
use serde_json::{Map, Value};

use crate::form::{PromptParts, ReasoningSlot, SmartAnswerForm};
use crate::program::Program;
use crate::signature::{Field, Form, Signature, Smart};

macro_rules! delegate_node {
    ($type:ident -> $output:ty, |$it:ident| $node:expr, $settings:expr) => {
        #[diagnostic::do_not_recommend]
        impl<N: Smart> Node for $type<'_, N> {
            type Output = $output;
            const NAME: &'static str = N::NAME;
            const SETTINGS: &'static Settings = N::SETTINGS;
            const FACTS: NodeFacts = N::FACTS;

            fn name(&self) -> Cow<'static, str> {
                let $it = self;
                $node.name()
            }

            fn settings(&self) -> &Settings {
                let $it = self;
                $settings
            }
        }
    };
}

/// An output, and the reasoning that the model wrote before it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Thought<T> {
    /// The reasoning. `None`: the node does not [think](Signature::thinks), or its fallback gave the value.
    pub reasoning: Option<String>,
    /// The output.
    pub value: T,
}

/// Runs a node with a goal and returns the reasoning, too.
///
/// ```
/// use llmnode::prelude::*;
/// use llmnode::smart::WithReasoning;
///
/// #[llm_output]
/// struct Verdict {
///     holds: bool,
/// }
///
/// #[llm_node(goal = "Judge the claim.", think, output = Verdict)]
/// struct Judge {
///     claim: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), NodeError> {
/// let model = ScriptedModel::new().reply(r#"{"reasoning": "It is evening.", "holds": false}"#);
/// let run = Run::new(model);
/// let thought = run.call(&WithReasoning(&Judge { claim: "The sun rises.".into() })).await?;
/// assert_eq!((thought.reasoning.as_deref(), thought.value.holds), (Some("It is evening."), false));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct WithReasoning<'n, N>(pub &'n N);

delegate_node! { WithReasoning -> Thought<N::Output>, |it| it.0, it.0.settings() }

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync, N: Smart + LlmNode<S> + Exec<S>> Exec<S> for WithReasoning<'_, N> {
    fn exec(
        &self,
        cx: &Cx<'_, S>,
    ) -> impl Future<Output = Result<Thought<N::Output>, BoxError>> + Send {
        exec_with_reasoning(self.0, cx, None)
    }
}

pub(crate) struct WithHint<'n, N> {
    pub(crate) node: &'n N,
    pub(crate) hint: Option<&'n str>,
}

delegate_node! { WithHint -> Thought<N::Output>, |it| it.node, it.node.settings() }

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync, N: Smart + LlmNode<S> + Exec<S>> Exec<S> for WithHint<'_, N> {
    fn exec(
        &self,
        cx: &Cx<'_, S>,
    ) -> impl Future<Output = Result<Thought<N::Output>, BoxError>> + Send {
        exec_with_reasoning(self.node, cx, self.hint)
    }
}

/// Runs a node with a goal: the macro delegates to it.
#[expect(
    clippy::manual_async_fn,
    reason = "of an `async fn` the compiler asks again for every node whether it is `Send`"
)]
pub fn exec<N, S>(
    node: &N,
    cx: &Cx<'_, S>,
) -> impl Future<Output = Result<N::Output, BoxError>> + Send
where
    N: Smart + LlmNode<S> + Exec<S>,
    S: ?Sized,
{
    async move {
        exec_with_reasoning(node, cx, None)
            .await
            .map(|thought| thought.value)
    }
}

pub(crate) async fn exec_with_reasoning<N, S>(
    node: &N,
    cx: &Cx<'_, S>,
    hint: Option<&str>,
) -> Result<Thought<N::Output>, BoxError>
where
    N: Smart + LlmNode<S> + Exec<S>,
    S: ?Sized,
{
    if let Some(fault) = N::signature().doubled() {
        return Err(NodeError::new(Category::ConfigError, fault).into());
    }
    let program = cx
        .node_data::<N>()
        .and_then(|node_data| node_data.downcast_ref::<Program<N>>());
    let reasoned = ReasoningSlot::default();
    let settings = program.map_or_else(
        || node.settings().clone(),
        |program| program.settings(node.settings()),
    );
    let value = ask(
        &Programmed {
            node,
            program,
            settings,
            hint,
            reasoned: reasoned.clone(),
        },
        cx,
    )
    .await?;
    Ok(Thought {
        reasoning: reasoned.take(),
        value,
    })
}

/// Writes the messages of a node as it is declared: the macro delegates to it.
pub fn render<N: Smart>(node: &N, to: &mut Prompt) {
    write_prompt(node, None, None, to);
}

fn write_prompt<N: Smart>(
    node: &N,
    program: Option<&Program<N>>,
    hint: Option<&str>,
    to: &mut Prompt,
) {
    let mut inputs = match node.values() {
        Ok(inputs) => inputs,
        Err(faults) => return to.fail(&format!("the input `{faults}`")),
    };
    let hinted;
    let mut signature = effective(program);
    if let Some(hint) = hint {
        hinted = add_hint(signature, hint, &mut inputs);
        signature = &hinted;
    }
    let demos = program.map_or(&[][..], Program::demos);
    let messages = PromptParts {
        signature,
        demos,
        inputs: &inputs,
    }
    .messages();
    // Only the last message of an example is written.
    let question = messages.len().saturating_sub(1);
    let skipped = if to.is_example() { question } else { 0 };
    for (at, message) in messages.into_iter().enumerate().skip(skipped) {
        if at == question {
            to.begin_conversation();
        }
        to.push(message);
    }
}

fn effective<N: Smart>(program: Option<&Program<N>>) -> &Signature {
    match program {
        Some(program) => program.effective(),
        None => N::signature(),
    }
}

/// The input that DSPy's `Refine` adds.
pub(crate) fn add_hint(
    signature: &Signature,
    hint: &str,
    inputs: &mut Map<String, Value>,
) -> Signature {
    const HINT: &str = "hint_";
    let mut signature = signature.clone();
    let description = "A hint to the module from an earlier run";
    signature.inputs.push(Field::new(
        HINT,
        description,
        serde_json::json!({"type": "string"}),
    ));
    inputs.insert(HINT.to_owned(), hint.into());
    signature
}

struct Programmed<'a, N> {
    node: &'a N,
    program: Option<&'a Program<N>>,
    settings: Settings,
    hint: Option<&'a str>,
    reasoned: ReasoningSlot,
}

delegate_node! { Programmed -> N::Output, |it| it.node, &it.settings }

#[diagnostic::do_not_recommend]
impl<S: ?Sized, N: Smart + LlmNode<S> + Exec<S>> Exec<S> for Programmed<'_, N>
where
    S: Sync,
{
    fn exec(&self, cx: &Cx<'_, S>) -> impl Future<Output = Result<N::Output, BoxError>> + Send {
        ask(self, cx)
    }
}

impl<S: ?Sized, N: Smart + LlmNode<S>> LlmNode<S> for Programmed<'_, N> {
    fn render(&self, _: &S, to: &mut Prompt) {
        write_prompt(self.node, self.program, self.hint, to);
    }

    fn model(&self) -> Option<&dyn ChatModel> {
        self.node.model()
    }

    fn output(&self) -> OutputSpec<N::Output, S> {
        let signature = effective(self.program);
        let spec = self.node.output();
        if N::signature().text && signature.form == Form::Own {
            return spec;
        }
        spec.in_form(Box::new(SmartAnswerForm::new::<N>(
            signature,
            &self.reasoned,
        )))
    }

    fn choices(&self, state: &S, to: &mut Choices) {
        self.node.choices(state, to);
    }

    fn chosen(&self, value: &N::Output, list: usize, to: &mut ChosenValues) {
        self.node.chosen(value, list, to);
    }

    fn tools(&self, to: &mut Tools<S>) {
        self.node.tools(to);
    }

    fn fallback<'a>(
        &'a self,
        state: &'a S,
        error: &'a NodeError,
        to: &'a mut Option<N::Output>,
    ) -> Option<FallbackFuture<'a>> {
        let falling = self.node.fallback(state, error, to)?;
        self.reasoned.set(None);
        Some(falling)
    }
}
