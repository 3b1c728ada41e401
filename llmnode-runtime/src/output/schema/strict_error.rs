//! What keeps a type from being said in OpenAI's strict dialect.

use std::fmt;

use crate::text::write_joined;

/// Why a type has no schema in OpenAI's strict dialect: every place that can't be expressed there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct StrictError {
    pub(super) name: String,
    pub(super) problems: Vec<StrictProblem>,
}

/// One place that OpenAI's strict dialect can't express.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StrictProblem {
    pub(super) path: String,
    pub(super) what: &'static str,
    /// What to write instead.
    pub(super) remedy: &'static str,
}

impl StrictError {
    /// All places, in the schema's order; at least one: the path from the name of a type on, `Report.steps[].labels`, what it
    /// is that can't be expressed, and what to write instead.
    pub fn problems(&self) -> impl ExactSizeIterator<Item = (&str, &'static str, &'static str)> {
        self.problems.iter().map(|StrictProblem { path, what, remedy }| (path.as_str(), *what, *remedy))
    }

    /// The error where the dialect was chosen, which is one thing that can be mended.
    pub(crate) fn with_remedy(&self) -> String {
        format!("{self}; or choose another response format than `strict`: `schema` takes any type")
    }
}

impl fmt::Display for StrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schema of `{}` can't be expressed in OpenAI's strict dialect: ", self.name)?;
        // On one line, as errors and logs are.
        write_joined(&self.problems, "; ", f)
    }
}

impl fmt::Display for StrictProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is {} ({})", self.path, self.what, self.remedy)
    }
}
