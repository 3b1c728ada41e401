//! The result of an optimisation.

use std::fmt;
use std::path::Path;

use llmnode_runtime::Usage;

use crate::program::{Program, ProgramError};
use crate::signature::Smart;
use llmnode_eval::Evaluation;

/// The result of an optimisation.
#[non_exhaustive]
pub enum Optimised<N> {
    /// A program scores higher on the validation cases than the start.
    Improved {
        /// The program. [`provenance`](Program::provenance) returns how it was made, with its score on the validation
        /// cases.
        program: Program<N>,
        /// The figures.
        report: OptimiseReport,
    },
    /// No program scores higher on the validation cases than the start.
    Unchanged {
        /// The figures.
        report: OptimiseReport,
    },
}

/// The figures of an optimisation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OptimiseReport {
    /// The start on the validation cases.
    pub start: Evaluation,
    /// The best candidate on the validation cases. `None`: no candidate was judged on them.
    pub best: Option<Evaluation>,
    /// How many programs were proposed.
    pub proposals: usize,
    /// What it used, including the requests of the metric.
    pub usage: Usage,
}

impl<N: Smart> Optimised<N> {
    /// Returns the better program, if there is one.
    pub fn program(&self) -> Option<&Program<N>> {
        match self {
            Optimised::Improved { program, .. } => Some(program),
            Optimised::Unchanged { .. } => None,
        }
    }

    /// Returns the figures.
    pub fn report(&self) -> &OptimiseReport {
        match self {
            Optimised::Improved { report, .. } | Optimised::Unchanged { report } => report,
        }
    }

    /// Writes the better program to a file, and returns whether there is one. Otherwise the file stays as it is.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<bool, ProgramError> {
        let Some(program) = self.program() else {
            return Ok(false);
        };
        program.save(path)?;
        Ok(true)
    }
}

/// `N` need not implement `Debug`.
impl<N: Smart> fmt::Debug for Optimised<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let improved = self.program().is_some();
        f.debug_struct("Optimised")
            .field("improved", &improved)
            .field("report", self.report())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for OptimiseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OptimiseReport {
            start,
            best,
            proposals,
            usage,
        } = self;
        match best.as_ref().map(|best| best.compare(start)) {
            Some(Ok(compared)) => write!(f, "validation {}", compared.summary())?,
            _ => write!(
                f,
                "validation {:.3}, and no candidate was judged",
                start.mean()
            )?,
        }
        let proposals = format_args!(
            "{proposals} {}",
            if *proposals == 1 {
                "proposal"
            } else {
                "proposals"
            }
        );
        write!(f, "; {proposals}, {} requests", usage.requests)
    }
}
