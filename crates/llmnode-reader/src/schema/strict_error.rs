//! Why OpenAI's strict dialect cannot express a type.

use std::fmt;

use crate::text::write_joined;

/// Why a type has no schema in OpenAI's strict dialect: every place that can't be expressed there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct StrictError {
    pub(super) name: String,
    pub(super) problems: Vec<StrictProblem>,
}

/// One place that strict mode cannot express.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StrictProblem {
    pub(super) path: String,
    pub(super) what: &'static str,
    pub(super) remedy: &'static str,
}

impl StrictError {
    /// Returns all places, in the schema's order; at least one. Each has its path,
    /// which begins with the name of a type (`Report.steps[].labels`), what cannot
    /// be expressed there, and what to write instead.
    pub fn problems(&self) -> impl ExactSizeIterator<Item = (&str, &'static str, &'static str)> {
        self.problems
            .iter()
            .map(|StrictProblem { path, what, remedy }| (path.as_str(), *what, *remedy))
    }

    /// Where the format was chosen, another one is a remedy too.
    pub(crate) fn with_remedy(&self) -> String {
        format!("{self}; or choose another response format than `strict`: `schema` takes any type")
    }
}

impl fmt::Display for StrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the schema of `{}` can't be expressed in OpenAI's strict dialect: ",
            self.name
        )?;
        write_joined(&self.problems, "; ", f)
    }
}

impl fmt::Display for StrictProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is {} ({})", self.path, self.what, self.remedy)
    }
}
