//! A node without a state: its output, its name, its settings.

use std::borrow::Cow;

use llmnode_model::Category;

use crate::ledger::{Ledger, NodeKey, NodeStats};
use crate::limits::{LimitedNode, Limits};
use crate::output::AnswerKind;
use crate::settings::{EMPTY_SETTINGS, NodeKind, Recovery, Settings, Stacks};

/// The properties of a node that do not depend on a state.
///
/// `#[llm_node]` implements it. A node without a model implements it by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node",
    label = "not a node",
    note = "put `#[llm_node(prompt = \"...\")]` on the struct, or implement `Node` and `Exec` by hand; an `impl Step` that has all of \
            it stands below `#[llmnode::step]`"
)]
pub trait Node {
    /// The output of the node.
    type Output: Send + Sync;
    /// The name in ledgers, errors and logs.
    const NAME: &'static str;
    /// The settings of every call of the node. The run and the call override them.
    const SETTINGS: &'static Settings = &Settings::new();
    /// What else holds for every node of the type: its description, what all its calls may spend, whether it may be executed
    /// again. Default: [`NodeFacts::new`].
    const FACTS: NodeFacts = NodeFacts::new();

    /// Returns the name of this node, if it is known only at run time. Default: [`NAME`](Node::NAME).
    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(Self::NAME)
    }

    /// Returns the settings of this node, if they are known only at run time. Default: [`SETTINGS`](Node::SETTINGS).
    fn settings(&self) -> &Settings {
        Self::SETTINGS
    }
}

/// Facts that a node's type states: one constant, [`Node::FACTS`], so that a node around another one passes on all of them.
///
/// `#[llm_node]` and `#[tool]` write it. A node without a model needs it only where a fact differs from [`NodeFacts::new`]:
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Limits, Node, NodeFacts};
///
/// struct Charge;
/// impl Node for Charge {
///     type Output = ();
///     const NAME: &'static str = "charge";
///     const FACTS: NodeFacts = NodeFacts::new().description("Charges the card.").idempotent(false);
/// }
///
/// struct Charges(Charge);
/// impl Node for Charges {
///     type Output = ();
///     const NAME: &'static str = "charges";
///     const FACTS: NodeFacts = Charge::FACTS.limits(Limits::new().requests(10));
/// }
/// assert!(!Charges::FACTS.idempotent);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NodeFacts {
    /// What the node does, in words for people and models. Default: empty.
    pub description: &'static str,
    /// What all calls of the node in one run may spend together. Default: no limits.
    /// [`Run::with_node_limits`](crate::Run::with_node_limits) overrides it.
    pub limits: Limits,
    /// Whether the node may be executed again. Default: `true`. `false`: nothing is retried, no other model is asked, a call that
    /// asks for it is a `config_error`, and after a crash a flow with a journal does not repeat the step by itself.
    pub idempotent: bool,
    /// Whether a node that asks a model has a fallback value. Default: `false`.
    pub fallback: bool,
    /// Whether the node has tries of its own, as one that asks a model or runs other nodes in its place: its call then adds none,
    /// and an error that leaves it has already been retried. Default: `false`, one try is one execution.
    #[doc(hidden)]
    pub retries_itself: bool,
}

impl Default for NodeFacts {
    fn default() -> Self {
        NodeFacts::new()
    }
}

impl NodeFacts {
    /// Creates the facts of a node that may be executed again, and has no description and no limits.
    pub const fn new() -> Self {
        NodeFacts {
            description: "",
            limits: Limits::new(),
            idempotent: true,
            fallback: false,
            retries_itself: false,
        }
    }

    /// Sets what the node does, in words for people and models.
    #[must_use]
    pub const fn description(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// Sets what all calls of the node in one run may spend together.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets whether the node may be executed again.
    #[must_use]
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = idempotent;
        self
    }

    /// Sets whether a node that asks a model has a fallback value, which [`LlmNode`](crate::private::LlmNode) gives.
    #[doc(hidden)]
    #[must_use]
    pub const fn fallback(mut self, fallback: bool) -> Self {
        self.fallback = fallback;
        self
    }

    /// Sets whether the node has tries of its own.
    #[doc(hidden)]
    #[must_use]
    pub const fn retries_itself(mut self, retries_itself: bool) -> Self {
        self.retries_itself = retries_itself;
        self
    }
}

/// A reference is the node that it points to, in ledgers too, so `run.map(&nodes)` does not consume the nodes.
#[diagnostic::do_not_recommend]
impl<N: Node + ?Sized> Node for &N {
    type Output = N::Output;
    const NAME: &'static str = N::NAME;
    const SETTINGS: &'static Settings = N::SETTINGS;
    const FACTS: NodeFacts = N::FACTS;

    fn name(&self) -> Cow<'static, str> {
        (**self).name()
    }

    fn settings(&self) -> &Settings {
        (**self).settings()
    }
}

/// Identifies a node's type. Not `TypeId`: a node may borrow. A reference counts as the node that it points to.
pub(crate) fn path<N>() -> &'static str {
    path_of(std::any::type_name::<N>())
}

/// By the name of the type.
pub(crate) fn path_of(type_name: &'static str) -> &'static str {
    type_name.trim_start_matches('&')
}

impl NodeKey {
    pub(crate) fn of<N: Node>(node: &N) -> Self {
        NodeKey::new(path::<N>(), N::NAME, node.name())
    }
}

impl Ledger {
    /// Returns the figures of a node's type. `None`: it was never called.
    pub fn of<N: Node>(&self) -> Option<NodeStats> {
        self.of_path(path::<N>())
    }
}

impl NodeKind {
    /// `answers`: how a model answers the node; `None`: it asks none.
    pub(crate) fn from_facts(facts: &NodeFacts, answers: Option<AnswerKind>) -> Self {
        NodeKind {
            fallback: facts.fallback,
            idempotent: facts.idempotent,
            answers,
        }
    }
}

impl LimitedNode {
    pub(crate) fn of<N: Node>() -> Self {
        LimitedNode {
            path: path::<N>(),
            name: N::NAME,
            limits: const { &N::FACTS.limits },
        }
    }
}

/// Returns the steps that follow a failure of this category, in order, by the node's attributes.
///
/// The last step is always [`Recovery::Bubble`]. The settings of a call or a run may change the steps.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Category, Recovery, recovery_of};
/// # use llmnode::{Node, Settings};
/// # struct Summarize;
/// # impl Node for Summarize {
/// #     type Output = String;
/// #     const NAME: &'static str = "summarize";
/// #     const SETTINGS: &'static Settings = &Settings::new().stated_fallback_model("small");
/// # }
///
/// // #[llm_node(prompt = "Summarize: {text}", fallback_model = "small")] struct Summarize { .. }
/// let steps = recovery_of::<Summarize>(Category::RateLimitError);
/// assert_eq!(steps, [Recovery::retry(2), Recovery::model("small"), Recovery::Bubble]);
/// assert_eq!(recovery_of::<Summarize>(Category::Panic), [Recovery::Bubble]);
/// ```
pub fn recovery_of<N: Node>(category: Category) -> Vec<Recovery> {
    let answers = (category != Category::ExecError).then_some(AnswerKind::Json);
    Stacks::new(
        [EMPTY_SETTINGS, EMPTY_SETTINGS, N::SETTINGS, EMPTY_SETTINGS],
        NodeKind::from_facts(&N::FACTS, answers),
    )
    .full_stack(category)
}
