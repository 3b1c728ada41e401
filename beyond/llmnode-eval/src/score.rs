//! A metric's verdict on one answer.

use std::collections::BTreeMap;

/// A metric's score for one answer: a value from 0 to 1, and the reason.
///
/// It can be made from a `bool`, an `f64`, or a pair of one of these and the feedback.
///
/// ```
/// use llmnode::evals::Score;
///
/// assert_eq!(Score::from(true), Score::new(1.0));
/// assert_eq!(Score::from((0.5, "half of the names")), Score::new(0.5).feedback("half of the names"));
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Score {
    /// How good the answer is, from 0 to 1.
    pub value: f64,
    /// What is wrong with it, and what would be right. The optimiser `Reflect` of the feature `smart` shows it to a model. Empty: the metric
    /// gave none.
    pub feedback: String,
    /// The scores of fields, each from 0 to 1: reports and comparisons have their means. Empty: the metric scores the whole answer alone.
    pub fields: BTreeMap<String, f64>,
}

impl Score {
    /// Creates a score from 0 to 1. An evaluation counts a case with any other value as failed.
    pub fn new(value: f64) -> Self {
        Score {
            value,
            feedback: String::new(),
            fields: BTreeMap::new(),
        }
    }

    /// Sets the feedback.
    #[must_use]
    pub fn feedback(mut self, feedback: impl Into<String>) -> Self {
        self.feedback = feedback.into();
        self
    }

    /// Adds the score of a field, so that reports have its mean. The value of the whole stays as it is.
    ///
    /// ```
    /// use llmnode::evals::Score;
    ///
    /// let (team, is_urgent) = (true, false);
    /// let score = Score::from(team && is_urgent).field("team", team).field("urgent", is_urgent);
    /// assert_eq!((score.value, score.fields["team"]), (0.0, 1.0));
    /// ```
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, score: impl Into<Score>) -> Self {
        self.fields.insert(name.into(), score.into().value);
        self
    }

    /// A value that is no share.
    pub(super) fn wrong(&self) -> Option<f64> {
        let mut values = [&self.value].into_iter().chain(self.fields.values());
        values.find(|value| !(0.0..=1.0).contains(*value)).copied()
    }
}

impl From<f64> for Score {
    fn from(value: f64) -> Self {
        Score::new(value)
    }
}

impl From<bool> for Score {
    fn from(passed: bool) -> Self {
        Score::new(f64::from(u8::from(passed)))
    }
}

impl<V: Into<Score>, F: Into<String>> From<(V, F)> for Score {
    fn from((value, feedback): (V, F)) -> Self {
        value.into().feedback(feedback)
    }
}

/// The feedback may be private.
impl std::fmt::Debug for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Score")
            .field("value", &self.value)
            .finish_non_exhaustive()
    }
}
