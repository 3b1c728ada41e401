//! What an optimiser of another crate takes: it asks cases in its own way, and holds the scores beside each other.
//!
//! Not needed to evaluate a node, which is [`evaluate`](crate::evaluate). It changes more often than the rest of the crate. The
//! optimisers of `llmnode-smart` are written with it.
//!
//! | to | take |
//! |---|---|
//! | ask some cases of a dataset and score the answers | [`cases`], which are nodes; [`scored`], which is what became of them |
//! | know whether to go on after a failure | [`is_fatal`]: nothing can be asked; [`is_outage`]: no fault of the answer |
//! | know what was paid for in an earlier process | [`replayed`] |
//! | choose cases in the same way on every machine | [`Random`] |
//! | say whether scores fell by more than chance | [`chance_of_fall`], [`is_surprising`], [`lowest_difference`] |
//!
//! ```
//! use llmnode_eval::ext::{Random, chance_of_fall, is_surprising};
//!
//! let mut order: Vec<usize> = (0..10).collect();
//! Random::new(7).shuffle(&mut order);
//! assert_eq!(order.len(), 10);
//!
//! let one_fell = [0.0, 0.0, 0.0, -1.0];
//! assert!(!is_surprising(chance_of_fall(&one_fell, 1)));
//! let most_fell = [-1.0; 20];
//! assert!(is_surprising(chance_of_fall(&most_fell, 1)));
//! ```

pub use crate::case::{is_fatal, is_outage, replayed};
pub use crate::evaluating::{ScoredCases, cases, scored};
pub use crate::fall::{chance_of_fall, is_surprising, lowest_difference};
pub use crate::random::Random;
