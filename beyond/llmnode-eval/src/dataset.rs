//! Labelled cases: nodes, each with its expected answer.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

use llmnode_model::internal::sha256_hex;
use llmnode_runtime::{Category, Node, NodeError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::jsonl::{self, EXPECTED, MUST};
use crate::random::Random;

/// Labelled cases: nodes, each with its expected answer.
///
/// A file has one JSON object per line. Its members are the inputs of the node. The expected output is in the member `expected`, or
/// beside the inputs, as members of the row:
///
/// ```json
/// {"claim": "Water boils at 100 °C.", "facts": [], "expected": {"verdict": "true"}}
/// {"claim": "Snow is black.", "facts": [], "verdict": "false"}
/// ```
///
/// A row with `"must": true` has to be right each time, or [`against`](super::Evaluation::against) fails.
#[derive(Clone)]
pub struct Dataset<N, E> {
    pub(super) cases: Vec<(N, E)>,
    /// As many as cases.
    pub(super) marks: Vec<Mark>,
    /// `None`: the program made the cases.
    pub(super) fingerprint: Option<String>,
}

/// What is known of a case beside its input and its label.
#[derive(Clone)]
pub(super) struct Mark {
    /// What it is called in a baseline.
    pub(super) name: String,
    /// Whether it must be right each time.
    pub(super) must: bool,
}

/// Cases that stay together.
type Group<N, E> = Vec<((N, E), Mark)>;

struct Row<N, E> {
    input: N,
    expected: E,
    mark: Mark,
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
    if lines == 1 {
        "1 line is".to_owned()
    } else {
        format!("{lines} lines are")
    }
}

fn listed(lines: &[(usize, String)]) -> String {
    lines
        .iter()
        .map(|(line, message)| format!("\nline {line}: {message}"))
        .collect()
}

impl<N: Node, E> Dataset<N, E> {
    /// Takes the cases from the program.
    pub fn new(cases: impl IntoIterator<Item = (N, E)>) -> Self {
        let cases: Vec<_> = cases.into_iter().collect();
        let marks = (0..cases.len())
            .map(|place| Mark {
                name: format!("#{place}"),
                must: false,
            })
            .collect();
        Dataset {
            cases,
            marks,
            fingerprint: None,
        }
    }

    /// Reads a file with one JSON object per line. This function turns each row into a case. Blank lines are skipped.
    ///
    /// ```no_run
    /// use llmnode::evals::{DataError, Dataset};
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
        mut read: impl FnMut(&Map<String, Value>) -> Result<(N, E), String>,
    ) -> Result<Self, DataError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|source| DataError::File {
            path: path.to_owned(),
            source,
        })?;
        let rows = jsonl::read(&bytes, |row| {
            let mark = Mark::of(row)?;
            let (input, expected) = read(row)?;
            Ok(Row {
                input,
                expected,
                mark,
            })
        });
        let rows = rows.map_err(|lines| DataError::Lines {
            path: path.to_owned(),
            lines,
        })?;
        if rows.is_empty() {
            return Err(DataError::Empty {
                path: path.to_owned(),
            });
        }
        Ok(Dataset::of_rows(rows, sha256_hex(&bytes)))
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
        self.marks.truncate(cases);
        self.fingerprint = self
            .fingerprint
            .map(|print| format!("{print}-first{}", self.cases.len()));
        self
    }
}

impl<N: Node, E> Dataset<N, E> {
    /// Reads a file with one JSON object per line: the node's fields, and the expected output. Blank lines are skipped. The node derives
    /// `serde::Deserialize`, or has a `goal`; for one that borrows there is [`open_with`](Dataset::open_with).
    ///
    /// # Errors
    /// A [`DataError`], which names every bad line.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DataError>
    where
        N: FromRow,
        E: FromRow,
    {
        Dataset::open_with(path, |row| {
            let mut fields = row.clone();
            fields.remove(EXPECTED);
            fields.remove(MUST);
            let input = N::deserialize(Value::Object(fields)).map_err(|error| error.to_string());
            match (input, jsonl::expected(row)) {
                (Ok(input), Ok(expected)) => Ok((input, expected)),
                (Err(fault), Ok(_)) | (Ok(_), Err(fault)) => Err(fault),
                (Err(one), Err(two)) => Err(format!("{one}\n{two}")),
            }
        })
    }

    /// Splits the cases at random into two sets. The first gets this share of them, such as 0.5. Cases with the same inputs
    /// stay together. The same seed gives the same sets.
    pub fn split(self, share: f64, seed: u64) -> (Self, Self)
    where
        N: Serialize,
    {
        let all = self.cases.len();
        let mut groups: BTreeMap<String, Group<N, E>> = BTreeMap::new();
        for (case, mark) in self.cases.into_iter().zip(self.marks) {
            let key = serde_json::to_string(&case.0).unwrap_or_default();
            groups.entry(key).or_default().push((case, mark));
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        Random::new(seed).shuffle(&mut groups);
        let most = (share.clamp(0.0, 1.0) * all as f64).round() as usize;
        let mut first = Vec::new();
        let mut second = Vec::new();
        for group in groups {
            if first.len() < most {
                first.extend(group);
            } else {
                second.extend(group);
            }
        }
        let split = self
            .fingerprint
            .map(|whole| format!("{whole}-{share}-{seed}"));
        let prints = [1, 2].map(|side| split.as_ref().map(|split| format!("{split}-{side}")));
        let [one, other] = prints;
        (
            Dataset::of_group(first, one),
            Dataset::of_group(second, other),
        )
    }
}

impl<N, E> Dataset<N, E> {
    fn of_rows(rows: Vec<Row<N, E>>, fingerprint: String) -> Self {
        let mut cases = Vec::with_capacity(rows.len());
        let mut marks = Vec::with_capacity(rows.len());
        let mut seen: HashMap<String, u32> = HashMap::new();
        for Row {
            input,
            expected,
            mut mark,
        } in rows
        {
            let times = seen.entry(mark.name.clone()).or_default();
            *times += 1;
            if *times > 1 {
                mark.name = format!("{}-{times}", mark.name);
            }
            cases.push((input, expected));
            marks.push(mark);
        }
        Dataset {
            cases,
            marks,
            fingerprint: Some(fingerprint),
        }
    }

    fn of_group(group: Group<N, E>, fingerprint: Option<String>) -> Self {
        let (cases, marks) = group.into_iter().unzip();
        Dataset {
            cases,
            marks,
            fingerprint,
        }
    }
}

impl Mark {
    fn of(row: &Map<String, Value>) -> Result<Self, String> {
        let must = match row.get(MUST) {
            None => false,
            Some(Value::Bool(must)) => *must,
            Some(_) => return Err("`must` is true or false".to_owned()),
        };
        let mut named = row.clone();
        named.remove(MUST);
        let mut named = Value::Object(named);
        // A row whose members were put in another order is the same case.
        named.sort_all_objects();
        let hash = sha256_hex(named.to_string().as_bytes());
        Ok(Mark {
            name: hash.chars().take(16).collect(),
            must,
        })
    }
}

/// A type that a row is read into: one with `Deserialize`, which borrows nothing.
#[diagnostic::on_unimplemented(
    message = "rows of a file cannot be read into `{Self}`",
    label = "has no `Deserialize`",
    note = "write `#[derive(serde::Deserialize)]` on `{Self}`, or read the rows by `Dataset::open_with`"
)]
pub trait FromRow: DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> FromRow for T {}

impl<N, E> Dataset<N, E> {
    /// Returns the cases in order, each an input with its label.
    pub fn rows(&self) -> &[(N, E)] {
        &self.cases
    }

    /// Returns a hash of the file, which tells whether two reports are of the same cases. `None`: the program made the cases.
    pub fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }
}

/// Inputs and labels are content.
impl<N, E> fmt::Debug for Dataset<N, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset")
            .field("cases", &self.cases.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(row: &str) -> String {
        let row: Map<String, Value> = serde_json::from_str(row).unwrap();
        Mark::of(&row).unwrap().name
    }

    /// A formatter that sorts members does not make new cases, at no depth.
    #[test]
    fn a_case_is_known_by_what_is_in_its_row_in_whatever_order() {
        let one = name(r#"{"a": 1, "expected": {"x": [{"k": 1, "l": 2}], "y": 2}}"#);
        let other =
            name(r#"{"expected": {"y": 2, "x": [{"l": 2, "k": 1}]}, "must": true, "a": 1}"#);
        assert_eq!(one, other);
        let labelled = name(r#"{"a": 1, "expected": {"x": [{"k": 1, "l": 3}], "y": 2}}"#);
        assert_ne!(one, labelled, "another label is another case");
    }
}
