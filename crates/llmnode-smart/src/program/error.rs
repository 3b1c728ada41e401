//! Why a program cannot be used.

use std::fmt;
use std::path::{Path, PathBuf};

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
        ProgramFault { pointer: pointer.into(), message: message.into() }
    }
}

impl fmt::Display for ProgramFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.pointer, self.message)
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
    pub(crate) fn of(faults: Vec<ProgramFault>) -> Self {
        ProgramError { path: None, faults }
    }

    pub(crate) fn file_error(message: impl Into<String>) -> Self {
        ProgramError::of(vec![ProgramFault::new("", message)])
    }

    pub(crate) fn at(self, path: &Path) -> Self {
        ProgramError { path: Some(path.to_owned()), ..self }
    }

    /// Returns everything that is wrong; at least one fault.
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
