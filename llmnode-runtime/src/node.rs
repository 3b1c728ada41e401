//! What a node is, without a state: its output, its name, its settings.

use std::borrow::Cow;

use crate::category::Category;
use crate::ledger::{Ledger, NodeKey, NodeStats};
use crate::limits::LimitedNode;
use crate::settings::{Attributes, Recovery, SILENT, Stacks};

/// The facts about a node that do not depend on a state.
///
/// `#[llm_node]` states them; a node without a model states them by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node",
    label = "not a node",
    note = "put `#[llm_node(prompt = \"...\")]` on the struct, or implement `Node` and `Exec` by hand"
)]
pub trait Node {
    /// What the node answers.
    type Output: Send + Sync;
    /// The name that ledgers, errors and logs use.
    const NAME: &'static str;
    /// What the node does, in words for people and models.
    const DESCRIPTION: &'static str = "";
    /// The settings that its attributes state; every call starts from them.
    const ATTRIBUTES: Attributes = Attributes::new();
    /// Whether it does no harm to execute the node once more where nobody knows whether it was executed: after a crash, a
    /// durable flow repeats the step that was under way. `false`: it refuses to. Default: what the attributes state.
    const IDEMPOTENT: bool = !Self::ATTRIBUTES.once;

    /// The name of this very node, where it is known only at run time; [`NAME`](Node::NAME), if not.
    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(Self::NAME)
    }
}

/// A reference is the node it points to, in ledgers too, so that a program keeps the nodes that it maps.
#[diagnostic::do_not_recommend]
impl<N: Node + ?Sized> Node for &N {
    type Output = N::Output;
    const NAME: &'static str = N::NAME;
    const DESCRIPTION: &'static str = N::DESCRIPTION;
    const ATTRIBUTES: Attributes = N::ATTRIBUTES;
    const IDEMPOTENT: bool = N::IDEMPOTENT;

    fn name(&self) -> Cow<'static, str> {
        (**self).name()
    }
}

/// What tells a node's type. Not `TypeId`: a node may borrow. A reference counts as the node that it points to.
fn path<N>() -> &'static str {
    std::any::type_name::<N>().trim_start_matches('&')
}

impl NodeKey {
    pub(crate) fn of<N: Node>(node: &N) -> Self {
        NodeKey::new(path::<N>(), N::NAME, node.name())
    }
}

impl Ledger {
    /// The figures of a node's type; `None`: it was never called.
    pub fn of<N: Node>(&self) -> Option<NodeStats> {
        self.of_path(path::<N>())
    }
}

impl LimitedNode {
    pub(crate) fn of<N: Node>() -> Self {
        LimitedNode { path: path::<N>(), name: N::NAME, limits: N::ATTRIBUTES.limits }
    }
}

/// The steps that follow a failure of this category, in order, by what the node's attributes say.
///
/// The last is always [`Recovery::Bubble`]. Readable without a call, a run or a state. A call's or run's settings may change the steps.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Category, Recovery, recovery_of};
/// # use llmnode::{Attributes, Node};
/// # struct Summarize;
/// # impl Node for Summarize {
/// #     type Output = String;
/// #     const NAME: &'static str = "summarize";
/// #     const ATTRIBUTES: Attributes = Attributes::new().fallback_model("small");
/// # }
///
/// // #[llm_node(prompt = "Summarize: {text}", fallback_model = "small")] struct Summarize { .. }
/// let steps = recovery_of::<Summarize>(Category::RateLimitError);
/// assert_eq!(steps, [Recovery::retry(2), Recovery::model("small"), Recovery::Bubble]);
/// assert_eq!(recovery_of::<Summarize>(Category::ApiKeyError), [Recovery::Bubble]);
/// ```
pub fn recovery_of<N: Node>(category: Category) -> Vec<Recovery> {
    Stacks::new(&SILENT, &SILENT, &SILENT, &N::ATTRIBUTES).listed(category)
}
