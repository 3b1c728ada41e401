//! Labelled cases: nodes, each with its expected answer.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use llmnode_model::internal::sha256_hex;
use llmnode_runtime::{Category, Node, NodeError};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::jsonl;
use crate::random::Random;
use crate::signature::Smart;

/// Labelled cases: nodes, each with its expected answer.
///
/// A file has one JSON object per line. Its members are the inputs of the node. The expected output is in the member `expected`, or
/// beside the inputs, as members of the row:
///
/// ```json
/// {"claim": "Water boils at 100 °C.", "facts": [], "expected": {"verdict": "true"}}
/// {"claim": "Snow is black.", "facts": [], "verdict": "false"}
/// ```
#[derive(Clone)]
pub struct Dataset<N, E> {
    pub(crate) cases: Vec<(N, E)>,
    /// `None`: the program made the cases.
    pub(crate) fingerprint: Option<String>,
}

/// Why a dataset cannot be read.
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
    /// Some lines of the file are not cases. All of these lines are listed.
    #[error("{}: {} no case{}", path.display(), counted(lines.len()), listed(lines))]
    Lines {
        /// The file.
        path: PathBuf,
        /// Every bad line: its number, from 1, and what is wrong with it.
        lines: Vec<(usize, String)>,
    },
    /// The file has no cases.
    #[error("{}: no cases; write one JSON object a line", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl From<DataError> for NodeError {
    fn from(error: DataError) -> Self {
        NodeError::new(Category::ConfigError, error.to_string()).with_source(error)
    }
}

fn counted(lines: usize) -> String {
    if lines == 1 { "1 line is".to_owned() } else { format!("{lines} lines are") }
}

fn listed(lines: &[(usize, String)]) -> String {
    lines.iter().map(|(line, message)| format!("\nline {line}: {message}")).collect()
}

impl<N: Node, E> Dataset<N, E> {
    /// Takes the cases from the program.
    pub fn new(cases: impl IntoIterator<Item = (N, E)>) -> Self {
        Dataset { cases: cases.into_iter().collect(), fingerprint: None }
    }

    /// Reads a file with one JSON object per line. This function turns each row into a case. Blank lines are skipped.
    ///
    /// ```no_run
    /// use llmnode::smart::evaluate::{DataError, Dataset};
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
        let bytes =
            std::fs::read(path).map_err(|source| DataError::File { path: path.to_owned(), source })?;
        let cases =
            jsonl::read(&bytes, read).map_err(|lines| DataError::Lines { path: path.to_owned(), lines })?;
        if cases.is_empty() {
            return Err(DataError::Empty { path: path.to_owned() });
        }
        Ok(Dataset { cases, fingerprint: Some(sha256_hex(&bytes)) })
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

    /// Keeps only the first cases, at most this many.
    #[must_use]
    pub fn first(mut self, cases: usize) -> Self {
        self.cases.truncate(cases);
        self.fingerprint = self.fingerprint.map(|print| format!("{print}-first{}", self.cases.len()));
        self
    }
}

impl<N: Node, E> Dataset<N, E> {
    /// Reads a file with one JSON object per line: the inputs of the node, and the expected output. Blank lines are skipped.
    ///
    /// # Errors
    /// A [`DataError`], which names every bad line and every mistake in its inputs.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DataError>
    where
        N: Smart,
        E: DeserializeOwned,
    {
        Dataset::open_with(path, |row| match (N::read(row), jsonl::expected(row)) {
            (Ok(input), Ok(expected)) => Ok((input, expected)),
            (Err(faults), Ok(_)) => Err(faults.to_string()),
            (Ok(_), Err(fault)) => Err(fault),
            (Err(faults), Err(fault)) => Err(format!("{faults}\n{fault}")),
        })
    }
}

impl<N: Smart, E> Dataset<N, E> {
    /// Splits the cases at random into two sets. The first gets this share of them, such as 0.5. Cases with the same inputs
    /// stay together. The same seed gives the same sets.
    pub fn split(self, share: f64, seed: u64) -> (Self, Self) {
        let all = self.cases.len();
        let mut groups: BTreeMap<String, Vec<(N, E)>> = BTreeMap::new();
        for case in self.cases {
            let key = case.0.values().map(|values| Value::Object(values).to_string()).unwrap_or_default();
            groups.entry(key).or_default().push(case);
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        Random::new(seed).shuffle(&mut groups);
        let wanted = (share.clamp(0.0, 1.0) * all as f64).round() as usize;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for group in groups {
            if first.len() < wanted { first.extend(group) } else { second.extend(group) }
        }
        let print = |side| self.fingerprint.as_ref().map(|print| format!("{print}-{share}-{seed}-{side}"));
        (Dataset { cases: first, fingerprint: print(1) }, Dataset { cases: second, fingerprint: print(2) })
    }
}

/// Inputs and labels are content.
impl<N, E> fmt::Debug for Dataset<N, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset").field("cases", &self.cases.len()).finish_non_exhaustive()
    }
}
