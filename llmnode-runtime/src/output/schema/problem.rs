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
#[non_exhaustive]
pub struct StrictProblem {
    /// The place, from the name of a type on: `Report.steps[].labels`.
    pub path: String,
    /// What it is that can't be expressed.
    pub what: &'static str,
    /// What to write instead.
    pub mend: &'static str,
}

impl StrictError {
    /// All places, in the schema's order; at least one.
    pub fn problems(&self) -> &[StrictProblem] {
        &self.problems
    }

    /// The error where the dialect was chosen, which is one thing that can be mended.
    pub(crate) fn with_remedy(&self) -> String {
        format!("{self}; or choose another dialect than `strict`: `schema` takes any type")
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
        write!(f, "`{}` is {} ({})", self.path, self.what, self.mend)
    }
}
