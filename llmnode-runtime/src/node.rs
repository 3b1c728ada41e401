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
    /// What the node does, in words for people and models.
    const DESCRIPTION: &'static str = "";
    /// The settings of every call of the node. The run and the call override them.
    const SETTINGS: &'static Settings = &Settings::new();
    /// What all calls of the node in one run may spend together.
    /// [`Run::with_node_limits`](crate::Run::with_node_limits) overrides it.
    const LIMITS: Limits = Limits::new();
    /// Whether the node may be executed again. `false`: nothing is retried, no other model is asked, a call that asks
    /// for it is a `config_error`, and after a crash a flow with a journal does not repeat the step by itself.
    const IDEMPOTENT: bool = true;
    /// Whether a node that asks a model has a fallback value.
    const FALLBACK: bool = false;

    /// Returns the name of this node, if it is known only at run time. Default: [`NAME`](Node::NAME).
    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(Self::NAME)
    }

    /// Returns the settings of this node, if they are known only at run time. Default: [`SETTINGS`](Node::SETTINGS).
    fn settings(&self) -> &Settings {
        Self::SETTINGS
    }
}

/// A reference is the node that it points to, in ledgers too, so `run.map(&nodes)` does not consume the nodes.
#[diagnostic::do_not_recommend]
impl<N: Node + ?Sized> Node for &N {
    type Output = N::Output;
    const NAME: &'static str = N::NAME;
    const DESCRIPTION: &'static str = N::DESCRIPTION;
    const SETTINGS: &'static Settings = N::SETTINGS;
    const LIMITS: Limits = N::LIMITS;
    const IDEMPOTENT: bool = N::IDEMPOTENT;
    const FALLBACK: bool = N::FALLBACK;

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
    pub(crate) fn of<N: Node>(answers: Option<AnswerKind>) -> Self {
        NodeKind {
            fallback: N::FALLBACK,
            idempotent: N::IDEMPOTENT,
            answers,
        }
    }
}

impl LimitedNode {
    pub(crate) fn of<N: Node>() -> Self {
        LimitedNode {
            path: path::<N>(),
            name: N::NAME,
            limits: N::LIMITS,
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
        NodeKind::of::<N>(answers),
    )
    .full_stack(category)
}
