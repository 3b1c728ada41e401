//! Evaluation: a node is called for each case of a dataset, and a metric scores its answers.
//!
//! [`Dataset`] holds the cases, a [`Metric`] scores, [`evaluate`] returns an [`Evaluation`], and
//! [`compare`](Evaluation::compare) returns whether two of them differ by more than noise.

mod builtin_metrics;
mod case;
mod comparison;
mod dataset;
mod evaluating;
mod jsonl;
mod metric;
mod outage;
mod report;
mod score;
mod statistics;
mod table;

pub(crate) use case::replayed;
pub(crate) use evaluating::{ScoredCases, cases, scored};
pub(crate) use outage::{is_fatal, is_outage};

pub use builtin_metrics::{Compared, contains, exact, f1};
pub use comparison::Comparison;
pub use dataset::{DataError, Dataset};
pub use evaluating::{Evaluate, evaluate};
pub use metric::{ByNode, Judged, Metric, judge};
pub use report::{EvaluatedCase, Evaluation, Failure};
pub use score::Score;
