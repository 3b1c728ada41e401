//! Several tries of a node, of which the best one counts.

mod advice;
mod guard;
mod run_tries;

pub use guard::Guard;

use std::borrow::Cow;
use std::fmt;
use std::future::{Future, IntoFuture};

use llmnode_runtime::internal::CxInternals as _;
use llmnode_runtime::private::LlmNode;
use llmnode_runtime::{
    BoxError, BoxFuture, CallReport, Category, Cx, Exec, Node, NodeError, NodeFacts, Run, Settings,
};

use crate::node::{Thought, WithHint};
use crate::signature::{Smart, output_values};

use advice::AdviceNode;
pub(crate) use run_tries::{Assessment, Tries, run_tries};

type Reward<'n, N> = Box<dyn Fn(&N, &<N as Node>::Output) -> f64 + Send + Sync + 'n>;
type Check<'n, N> = Box<dyn Fn(&N, &<N as Node>::Output) -> Result<(), String> + Send + Sync + 'n>;

/// Several tries of a node with a goal. [`SmartExt::refine`](crate::SmartExt::refine) and
/// [`SmartExt::best_of`](crate::SmartExt::best_of) create it, and it can be awaited; without a run it is a node, which other nodes and maps call.
///
/// ```
/// use llmnode::prelude::*;
/// use llmnode::smart::Guard;
///
/// #[llm_node(goal = "Write a slogan.")]
/// struct Slogan {
///     product: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), NodeError> {
/// let model = ScriptedModel::new().reply("The best bread in the whole wide world").reply("Bread, at last");
/// let run = Run::new(model.clone());
/// let slogan = Slogan { product: "bread".into() };
/// let best = run.refine(&slogan).guard(Guard::max_chars(20)).await?;
/// assert_eq!((best.value.as_str(), best.met), ("Bread, at last", true));
///
/// // The second try was told why the first one was not good enough.
/// let asked = &model.requests()[1].messages[1].content;
/// assert!(asked.contains("`value` has 38 characters, and 20 are the most"), "{asked}");
/// # Ok(())
/// # }
/// ```
#[must_use = "it does nothing until it is awaited or called"]
pub struct Refine<'n, N: Smart, R = ()> {
    node: &'n N,
    run: R,
    gives_feedback: bool,
    tries: u32,
    at_least: f64,
    reward: Option<Reward<'n, N>>,
    guards: Vec<Guard>,
    checks: Vec<Check<'n, N>>,
    advice: Option<Advisor>,
}

enum Advisor {
    Same,
    Model(Cow<'static, str>),
}

/// The result of several tries.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Refined<T> {
    /// The best output: the one with the fewest broken rules, then the one with the highest reward, then the first.
    pub value: T,
    /// Whether it breaks no rule and its reward is high enough.
    pub met: bool,
    /// Its reward. Without a reward function, it is the share of the rules that hold.
    pub reward: f64,
    /// The rules that it breaks.
    pub broken: Vec<String>,
    /// How many tries there were.
    pub tries: u32,
}

impl<'n, N: Smart> Refine<'n, N> {
    /// Creates at most three tries, until all rules hold. Each try gets feedback on the one before.
    pub fn new(node: &'n N) -> Self {
        Refine::on((), node, true)
    }

    /// Creates tries that know nothing about each other.
    pub fn best_of(node: &'n N) -> Self {
        Refine::on((), node, false)
    }
}

impl<'n, N: Smart, R> Refine<'n, N, R> {
    pub(crate) fn on(run: R, node: &'n N, gives_feedback: bool) -> Self {
        Refine {
            node,
            run,
            gives_feedback,
            tries: 3,
            at_least: 1.0,
            reward: None,
            guards: Vec::new(),
            checks: Vec::new(),
            advice: None,
        }
    }

    /// Sets how many tries there are at most. Default: 3.
    pub fn tries(mut self, tries: u32) -> Self {
        self.tries = tries;
        self
    }

    /// Adds a rule for the text of an output.
    pub fn guard(mut self, guard: Guard) -> Self {
        self.guards.push(guard);
        self
    }

    /// Adds a rule. Its error is what people and the next try read.
    pub fn check(
        mut self,
        check: impl Fn(&N, &N::Output) -> Result<(), String> + Send + Sync + 'n,
    ) -> Self {
        self.checks.push(Box::new(check));
        self
    }

    /// Sets the function that rates an output.
    pub fn reward(mut self, reward: impl Fn(&N, &N::Output) -> f64 + Send + Sync + 'n) -> Self {
        self.reward = Some(Box::new(reward));
        self
    }

    /// Sets the reward that is high enough. Default: 1.
    pub fn at_least(mut self, reward: f64) -> Self {
        self.at_least = reward;
        self
    }

    /// Asks the model for advice between two tries, which takes one more request each. Without advice, the next try
    /// gets the list of broken rules.
    pub fn advice(mut self) -> Self {
        self.advice = Some(Advisor::Same);
        self
    }

    /// Asks another model for advice: a name registered on the run, or else the provider's id.
    pub fn advice_by(mut self, model: impl Into<Cow<'static, str>>) -> Self {
        self.advice = Some(Advisor::Model(model.into()));
        self
    }

    fn fault(&self) -> Option<NodeError> {
        let message = if self.tries == 0 {
            "`tries` is 0: nothing would be tried; set 1 or more".to_owned()
        } else if !N::FACTS.idempotent && self.tries > 1 {
            format!(
                "`{}` says `idempotent = false`, and several tries would execute it again; set `tries` to 1",
                N::NAME
            )
        } else if self.reward.is_none() && self.guards.is_empty() && self.checks.is_empty() {
            "nothing says which output is good enough; add `guard`, `check` or `reward`".to_owned()
        } else {
            self.guards
                .iter()
                .find_map(|guard| guard.misplaced(N::signature()))?
        };
        Some(NodeError::new(Category::ConfigError, message))
    }
}

impl<'n, N: Smart, S: Sync> Refine<'n, N, &'n Run<S>> {
    /// Returns the best output together with the record of all tries.
    ///
    /// # Errors
    /// As without the record.
    pub fn report(self) -> BoxFuture<'n, Result<CallReport<Refined<N::Output>>, NodeError>>
    where
        N: LlmNode<S> + Exec<S>,
    {
        Box::pin(async move {
            let Refine {
                node,
                run,
                gives_feedback,
                tries,
                at_least,
                reward,
                guards,
                checks,
                advice,
            } = self;
            let refine = Refine {
                node,
                run: (),
                gives_feedback,
                tries,
                at_least,
                reward,
                guards,
                checks,
                advice,
            };
            run.call(&refine).report().await
        })
    }
}

impl<'n, N, S> IntoFuture for Refine<'n, N, &'n Run<S>>
where
    N: Smart + LlmNode<S> + Exec<S>,
    S: Sync,
{
    type Output = Result<Refined<N::Output>, NodeError>;
    type IntoFuture = BoxFuture<'n, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.report().await.map(|report| report.value) })
    }
}

#[diagnostic::do_not_recommend]
impl<N: Smart> Node for Refine<'_, N> {
    type Output = Refined<N::Output>;
    const NAME: &'static str = "refine";
    const FACTS: NodeFacts = NodeFacts::new()
        .description(N::FACTS.description)
        .idempotent(N::FACTS.idempotent)
        .retries_itself(true);

    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(if self.gives_feedback {
            "refine"
        } else {
            "best_of"
        })
    }
}

#[diagnostic::do_not_recommend]
impl<N, S> Exec<S> for Refine<'_, N>
where
    N: Smart + LlmNode<S> + Exec<S>,
    S: ?Sized + Sync,
{
    #[expect(
        clippy::manual_async_fn,
        reason = "the future is `Send`, whatever the node"
    )]
    fn exec(
        &self,
        cx: &Cx<'_, S>,
    ) -> impl Future<Output = Result<Refined<N::Output>, BoxError>> + Send {
        async move {
            if let Some(fault) = self.fault() {
                return Err(fault.into());
            }
            let tries = RefineTries { refine: self, cx };
            let Some(best) = run_tries(self.tries, self.at_least, &tries).await? else {
                return Err("nothing was tried".into());
            };
            let run_tries::Best {
                value,
                met,
                judged,
                tries,
            } = best;
            Ok(Refined {
                value: value.value,
                met,
                reward: judged.reward,
                broken: judged.complaints,
                tries,
            })
        }
    }
}

struct RefineTries<'a, 'n, N: Smart, S: ?Sized> {
    refine: &'a Refine<'n, N>,
    cx: &'a Cx<'a, S>,
}

impl<N, S> Tries for RefineTries<'_, '_, N, S>
where
    N: Smart + LlmNode<S> + Exec<S>,
    S: ?Sized + Sync,
{
    type Value = Thought<N::Output>;

    async fn attempt(&self, hint: Option<&str>) -> Result<Self::Value, NodeError> {
        let node = WithHint {
            node: self.refine.node,
            hint,
        };
        self.cx
            .call(&node)
            .settings(self.cx.forwarded_settings())
            .await
    }

    fn judge(&self, thought: &Self::Value) -> Assessment {
        let Refine {
            node,
            guards,
            checks,
            reward,
            ..
        } = self.refine;
        let value = &thought.value;
        let outputs = output_values::<N>(value, None);
        let mut complaints: Vec<String> = match &outputs {
            Ok(outputs) => guards
                .iter()
                .filter_map(|guard| guard.complaint(outputs))
                .collect(),
            Err(faults) => vec![faults.to_string()],
        };
        complaints.extend(checks.iter().filter_map(|check| check(node, value).err()));
        let rules = (guards.len() + checks.len()).max(1);
        let share = 1.0 - complaints.len() as f64 / rules as f64;
        let reward = reward
            .as_ref()
            .map_or(share.max(0.0), |reward| reward(node, value));
        Assessment { complaints, reward }
    }

    async fn hint(
        &self,
        thought: &Self::Value,
        judged: &Assessment,
    ) -> Result<Option<String>, NodeError> {
        let Refine {
            node,
            gives_feedback,
            advice,
            at_least,
            ..
        } = self.refine;
        if !gives_feedback {
            return Ok(None);
        }
        let faults = feedback(judged, *at_least);
        let Some(advisor) = advice else {
            return Ok(Some(faults));
        };
        let (Ok(inputs), Ok(outputs)) = (
            node.values(),
            output_values::<N>(&thought.value, thought.reasoning.as_deref()),
        ) else {
            return Ok(Some(faults));
        };
        let advise = AdviceNode::new(N::signature().goal(), &inputs, &outputs, &faults);
        let settings = match advisor {
            Advisor::Same => Settings::new(),
            Advisor::Model(name) => Settings::new().model(name.clone()),
        };
        self.cx.call(&advise).settings(settings).await.map(Some)
    }
}

pub(crate) fn feedback(judged: &Assessment, at_least: f64) -> String {
    let mut feedback = String::from("An earlier answer was not good enough:");
    for complaint in &judged.complaints {
        feedback.push_str("\n- ");
        feedback.push_str(complaint);
    }
    if judged.complaints.is_empty() {
        feedback.push_str(&format!(
            "\n- its reward was {}, and at least {at_least} is wanted",
            judged.reward
        ));
    }
    feedback
}

impl<N: Smart, R> fmt::Debug for Refine<'_, N, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refine")
            .field("node", &N::NAME)
            .field("tries", &self.tries)
            .field("at_least", &self.at_least)
            .field("guards", &self.guards)
            .finish_non_exhaustive()
    }
}
