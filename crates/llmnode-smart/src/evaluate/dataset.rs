//! Labelled cases: nodes, each with what it should answer.

use std::fmt;
use std::path::{Path, PathBuf};

use llmnode_runtime::Node;
use llmnode_runtime::internal::hashed;
use serde_json::{Map, Value};

use super::rows;

/// Labelled cases: nodes, each with what is expected of its answer.
///
/// A file has one JSON object a line. Its members are the inputs of the node. What is expected stands in the member `expected`, or
/// beside the inputs, as members of the row:
///
/// ```json
/// {"claim": "Water boils at 100 °C.", "facts": [], "expected": {"verdict": "true"}}
/// {"claim": "Snow is black.", "facts": [], "verdict": "false"}
/// ```
#[derive(Clone)]
pub struct Dataset<N, E> {
    pub(crate) cases: Vec<(N, E)>,
    /// What tells the data from others, where they come from a file.
    pub(crate) fingerprint: Option<String>,
}

/// Why there is no dataset.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Lines of the file are no cases: all of them.
    #[error("{}: {} no case{}", path.display(), counted(lines.len()), listed(lines))]
    Lines {
        /// The file.
        path: PathBuf,
        /// Every bad line.
        lines: Vec<BadLine>,
    },
    /// The file has no case.
    #[error("{}: no cases; write one JSON object a line", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// A line that is no case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

fn counted(lines: usize) -> String {
    if lines == 1 { "1 line is".to_owned() } else { format!("{lines} lines are") }
}

fn listed(lines: &[BadLine]) -> String {
    lines.iter().map(|BadLine { line, message }| format!("\nline {line}: {message}")).collect()
}

impl<N: Node, E> Dataset<N, E> {
    /// Takes the cases from the program.
    pub fn new(cases: impl IntoIterator<Item = (N, E)>) -> Self {
        Dataset { cases: cases.into_iter().collect(), fingerprint: None }
    }

    /// Reads a file with one JSON object a line, where each row becomes a case by this function. Blank lines are skipped.
    ///
    /// ```no_run
    /// # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_smart::*; }
    /// use llmnode::evaluate::{DataError, Dataset};
    /// # use llmnode::Node;
    /// # struct Answer { question: String }
    /// # impl Node for Answer { type Output = String; const NAME: &'static str = "answer"; }
    ///
    /// let data: Dataset<Answer, String> = Dataset::open_with("squad.jsonl", |row| {
    ///     let text = |name: &str| row.get(name).and_then(|value| value.as_str()).ok_or(format!("no text `{name}`"));
    ///     Ok((Answer { question: text("question")?.into() }, text("answer")?.into()))
    /// })?;
    /// # Ok::<(), DataError>(())
    /// ```
    ///
    /// # Errors
    /// A [`DataError`], which names every bad line.
    pub fn open_with(
        path: impl AsRef<Path>,
        read: impl FnMut(&Map<String, Value>) -> Result<(N, E), String>,
    ) -> Result<Self, DataError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|source| DataError::File { path: path.to_owned(), source })?;
        let cases = rows::read(&bytes, read)
            .map_err(|lines| DataError::Lines { path: path.to_owned(), lines })?;
        if cases.is_empty() {
            return Err(DataError::Empty { path: path.to_owned() });
        }
        Ok(Dataset { cases, fingerprint: Some(hashed(&bytes)) })
    }

    /// Returns how many cases there are.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Returns the cases in order.
    pub fn cases(&self) -> impl ExactSizeIterator<Item = (&N, &E)> {
        self.cases.iter().map(|(input, expected)| (input, expected))
    }

    /// Keeps the first cases only, this many at most.
    #[must_use]
    pub fn first(mut self, cases: usize) -> Self {
        self.cases.truncate(cases);
        self.fingerprint = self.fingerprint.map(|print| format!("{print}-first{}", self.cases.len()));
        self
    }
}

/// Inputs and labels are content.
impl<N, E> fmt::Debug for Dataset<N, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset").field("cases", &self.cases.len()).finish_non_exhaustive()
    }
}
