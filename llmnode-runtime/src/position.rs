//! The position of a flow.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The position of a flow: the label of the next step, then that of the flow nested there, and so on.
///
/// It has labels rather than numbers, so that a stored position survives new steps. The empty position is the start.
/// In JSON it is the list of its labels.
///
/// ```
/// # mod llmnode { pub mod flow { pub use llmnode_runtime::ext::Position; } }
/// use llmnode::flow::Position;
///
/// let position: Position = ["Research", "Decide"].into_iter().collect();
/// assert_eq!(position.to_string(), "Research/Decide");
/// ```
#[derive(Clone, Default)]
pub struct Position(Vec<Level>);

/// The name of a step in its flow. Cloning one allocates nothing.
#[derive(Clone)]
pub enum Label {
    /// Known when the program was compiled.
    Static(&'static str),
    /// Made at run time.
    Shared(Arc<str>),
}

#[derive(Clone)]
struct Level {
    label: Label,
    /// Where the label was last; only a hint.
    step: usize,
}

impl Position {
    /// Returns the labels, the outermost first.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|level| level.label.as_str())
    }

    /// Returns whether it is the start.
    pub fn is_start(&self) -> bool {
        self.0.is_empty()
    }
}

/// How a flow moves its position.
pub trait PositionExt {
    /// The label at a depth; `None`: the flow at that depth has not begun.
    fn at(&self, depth: usize) -> Option<&str>;

    /// The index of the step at a depth that has begun. `label` returns the labels of the flow's steps.
    fn step<'l>(
        &self,
        depth: usize,
        steps: usize,
        label: impl Fn(usize) -> Option<&'l str>,
    ) -> Option<usize>;

    /// Goes to another step at a depth; whatever lies below begins anew.
    fn go(&mut self, depth: usize, step: usize, label: Label);

    /// The position down to a depth.
    fn outer(&self, depth: usize) -> Position;

    /// The position with these labels below it.
    fn below<'l>(&self, labels: impl Iterator<Item = &'l str>) -> Position;
}

impl PositionExt for Position {
    fn at(&self, depth: usize) -> Option<&str> {
        self.0.get(depth).map(|level| level.label.as_str())
    }

    fn step<'l>(
        &self,
        depth: usize,
        steps: usize,
        label: impl Fn(usize) -> Option<&'l str>,
    ) -> Option<usize> {
        let level = self.0.get(depth)?;
        let expected = Some(level.label.as_str());
        if label(level.step) == expected {
            return Some(level.step);
        }
        // Steps may have been added before it since.
        (0..steps).find(|step| label(*step) == expected)
    }

    fn go(&mut self, depth: usize, step: usize, label: Label) {
        self.0.truncate(depth);
        self.0.push(Level { label, step });
    }

    fn outer(&self, depth: usize) -> Position {
        Position(self.0.iter().take(depth).cloned().collect())
    }

    fn below<'l>(&self, labels: impl Iterator<Item = &'l str>) -> Position {
        let inner = labels.map(|label| Level {
            label: Label::Shared(label.into()),
            step: 0,
        });
        Position(self.0.iter().cloned().chain(inner).collect())
    }
}

impl Label {
    /// Its text.
    pub fn as_str(&self) -> &str {
        match self {
            Label::Static(label) => label,
            Label::Shared(label) => label,
        }
    }

    /// Its text as a `Cow`.
    pub fn to_cow(&self) -> Cow<'static, str> {
        match self {
            Label::Static(label) => Cow::Borrowed(label),
            Label::Shared(label) => Cow::Owned(label.to_string()),
        }
    }
}

impl From<Cow<'static, str>> for Label {
    fn from(label: Cow<'static, str>) -> Self {
        match label {
            Cow::Borrowed(label) => Label::Static(label),
            Cow::Owned(label) => Label::Shared(label.into()),
        }
    }
}

impl<L: Into<Cow<'static, str>>> FromIterator<L> for Position {
    fn from_iter<I: IntoIterator<Item = L>>(labels: I) -> Self {
        Position(
            labels
                .into_iter()
                .map(|label| Level {
                    label: label.into().into(),
                    step: 0,
                })
                .collect(),
        )
    }
}

impl PartialEq for Position {
    fn eq(&self, other: &Self) -> bool {
        self.labels().eq(other.labels())
    }
}

impl Eq for Position {}

impl Hash for Position {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.0.len().hash(to);
        self.labels().for_each(|label| label.hash(to));
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.labels())
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::<String>::deserialize(from).map(Position::from_iter)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, label) in self.labels().enumerate() {
            let between = if depth == 0 { "" } else { "/" };
            write!(f, "{between}{label}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.labels()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_told_by_their_labels_alone() {
        let read: Position = serde_json::from_str(r#"["Research","Decide"]"#).unwrap();
        let mut gone = Position::default();
        gone.go(0, 3, Label::Static("Research"));
        gone.go(1, 7, Label::Shared("Decide".into()));
        assert_eq!(read, gone);
        assert_eq!(
            serde_json::to_string(&gone).unwrap(),
            r#"["Research","Decide"]"#
        );
        gone.go(0, 0, Label::Static("Answer"));
        assert_eq!(gone.to_string(), "Answer", "what lay below is left");
    }

    #[test]
    fn a_step_is_found_where_it_was_and_where_it_has_moved() {
        let labels = ["A", "B", "C"];
        let label = |step| labels.get(step).copied();
        let mut at = Position::default();
        for (hint, name, found) in [
            (1, "B", Some(1)),
            (0, "C", Some(2)),
            (9, "A", Some(0)),
            (0, "D", None),
        ] {
            at.go(0, hint, Label::Static(name));
            assert_eq!(at.step(0, labels.len(), label), found, "{name}");
        }
        assert_eq!(at.step(1, labels.len(), label), None);
    }
}
