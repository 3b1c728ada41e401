//! A metric's verdict on one answer.

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
}

impl Score {
    /// Creates a score from 0 to 1. An evaluation counts a case with any other value as failed.
    pub fn new(value: f64) -> Self {
        Score {
            value,
            feedback: String::new(),
        }
    }

    /// Sets the feedback.
    #[must_use]
    pub fn feedback(mut self, feedback: impl Into<String>) -> Self {
        self.feedback = feedback.into();
        self
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
