//! Evaluation: how good is a node, and is a changed one worse? Use it through the `llmnode` crate (feature `evals`).
//!
//! A node is called for each case of a dataset, and a metric scores its answers. [`Dataset`] holds the cases, a [`Metric`] scores,
//! [`evaluate`] returns an [`Evaluation`], [`compare`](Evaluation::compare) says whether two of them differ by more than noise, and
//! [`against`](Evaluation::against) holds one against a baseline in the repository, as a test.
//!
//! From the bottom up: `random`, `statistics` and `fall` are arithmetic. `score`, `metric`, `builtin_metrics` say how good one answer
//! is. `jsonl` and `dataset` read cases. `case`, `evaluated_case`, `report` and `evaluating` ask for the answers. `agreement` is for
//! judges. `columns` and `figures` are how a terminal shows texts and amounts, and `table` prints a report. `difference`, `comparison`
//! and `difference_table` hold two reports beside each other; `baseline`, `verdict`, `gate_error` and `gate` one beside a file.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod agreement;
mod baseline;
mod builtin_metrics;
mod case;
mod columns;
mod common;
mod comparison;
mod dataset;
mod difference;
mod difference_table;
mod evaluated_case;
mod evaluating;
pub mod ext;
mod fall;
mod figures;
mod gate;
mod gate_error;
mod jsonl;
mod metric;
mod random;
mod report;
mod score;
mod statistics;
mod table;
mod verdict;

pub use agreement::{Agreement, AgreementMetric, agreement};
pub use builtin_metrics::{ComparisonMetric, contains, exact, f1};
pub use dataset::{DataError, Dataset};
pub use difference::{CaseDiff, EvaluationDiff, FieldDiff};
pub use evaluated_case::{EvaluatedCase, Failure};
pub use evaluating::{Evaluate, evaluate};
pub use gate::Gate;
pub use gate_error::{FallenCase, GateError};
pub use metric::{ByNode, Metric, ScoredCase, judge};
pub use report::Evaluation;
pub use score::Score;
pub use verdict::{Verdict, VerdictKind};
