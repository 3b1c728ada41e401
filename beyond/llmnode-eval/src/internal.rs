//! For llmnode's other crates, which have the same version.
//!
//! | crate | uses |
//! |---|---|
//! | llmnode-smart | all but the statistics |
//! | benches | `chance_of_fall`, `lowest_difference`, `is_surprising` |

pub use crate::case::{is_fatal, is_outage, replayed};
pub use crate::dataset::{DatasetInternals, FromRow};
pub use crate::evaluating::{ScoredCases, cases, scored};
pub use crate::fall::{chance_of_fall, is_surprising, lowest_difference};
pub use crate::random::Random;
pub use crate::report::EvaluationInternals;
