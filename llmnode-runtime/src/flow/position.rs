//! Where a flow stands.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a flow stands: the label of the step that is next, and below it that of the flow nested there, and so on.
///
/// Labels rather than numbers, so that a position that was stored survives a flow to which steps are added. The empty
/// position is the start.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::flow::Position;
///
/// let position: Position = ["Research", "Decide"].into_iter().collect();
/// assert_eq!(position.to_string(), "Research/Decide");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Position(Vec<Cow<'static, str>>);

impl Position {
    /// The labels, the outermost first.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|label| &**label)
    }

    /// Whether it is the start.
    pub fn is_start(&self) -> bool {
        self.0.is_empty()
    }

    /// The label at a depth; `None`: the flow at that depth has not begun.
    pub(super) fn at(&self, depth: usize) -> Option<&str> {
        self.0.get(depth).map(|label| &**label)
    }

    /// Goes to another step at a depth; whatever lies below begins anew.
    pub(super) fn go(&mut self, depth: usize, label: Cow<'static, str>) {
        self.0.truncate(depth);
        self.0.push(label);
    }
}

impl<L: Into<Cow<'static, str>>> FromIterator<L> for Position {
    fn from_iter<I: IntoIterator<Item = L>>(labels: I) -> Self {
        Position(labels.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, label) in self.0.iter().enumerate() {
            let between = if depth == 0 { "" } else { "/" };
            write!(f, "{between}{label}")?;
        }
        Ok(())
    }
}
