//! Why a program cannot be used.

use std::fmt;
use std::path::{Path, PathBuf};

use llmnode_reader::text::{one_line, visible};
use llmnode_runtime::{Category, NodeError};

/// Characters of a fault.
const MAX_MESSAGE: usize = 1_000;
const MAX_POINTER: usize = 300;
/// Faults that are listed.
const MAX_FAULTS: usize = 100;

/// One thing that is wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramFault {
    /// The place in the file, as a JSON pointer. Empty for the whole file.
    pub pointer: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl ProgramFault {
    pub(crate) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        // Names and values of a file may be as long as the file.
        let pointer = one_line(pointer.into(), MAX_POINTER);
        ProgramFault {
            pointer,
            message: one_line(message.into(), MAX_MESSAGE),
        }
    }
}

impl fmt::Display for ProgramFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            f.write_str(&visible(&self.message))
        } else {
            write!(f, "{}: {}", visible(&self.pointer), visible(&self.message))
        }
    }
}

/// Why a program cannot be used: every fault at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramError {
    path: Option<PathBuf>,
    faults: Vec<ProgramFault>,
}

impl ProgramError {
    pub(crate) fn of(mut faults: Vec<ProgramFault>) -> Self {
        let more = faults.len().saturating_sub(MAX_FAULTS);
        if more > 0 {
            faults.truncate(MAX_FAULTS);
            faults.push(ProgramFault::new("", format!("and {more} more faults")));
        }
        ProgramError { path: None, faults }
    }

    pub(crate) fn file_error(message: impl Into<String>) -> Self {
        ProgramError::of(vec![ProgramFault::new("", message)])
    }

    pub(crate) fn at(self, path: &Path) -> Self {
        ProgramError {
            path: Some(path.to_owned()),
            ..self
        }
    }

    /// Returns everything that is wrong, up to 100 faults; at least one.
    pub fn faults(&self) -> &[ProgramFault] {
        &self.faults
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "the program {}", path.display())?,
            None => f.write_str("the program")?,
        }
        match &self.faults[..] {
            [one] => write!(f, ": {one}"),
            many => {
                write!(f, " has {} faults:", many.len())?;
                many.iter().try_for_each(|fault| write!(f, "\n{fault}"))
            }
        }
    }
}

impl std::error::Error for ProgramError {}

impl From<ProgramError> for NodeError {
    fn from(error: ProgramError) -> Self {
        NodeError::new(Category::ConfigError, error.to_string()).with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_short_whatever_is_in_the_file() {
        let long = "x".repeat(1 << 20);
        let fault = || ProgramFault::new(format!("/demos/{long}"), format!("no field `{long}`"));
        let error = ProgramError::of((0..5_000).map(|_| fault()).collect());
        assert!(
            error.to_string().len() < 200_000,
            "{}",
            error.to_string().len()
        );
        assert!(error.to_string().ends_with("and 4900 more faults"));
    }
}
