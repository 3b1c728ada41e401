//! How a program was made.

use serde::{Deserialize, Serialize};

/// How an optimiser made a program, and its scores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Provenance {
    /// The name of the optimiser.
    pub optimiser: String,
    /// Its seed.
    pub seed: u64,
    /// The models that were asked.
    pub models: Vec<String>,
    /// How many requests the optimisation made, to all models together.
    pub requests: u64,
    /// How many tokens it took; `None`: unknown.
    pub tokens: Option<u64>,
    /// The scores of the program.
    pub score: Option<ProvenanceScores>,
}

/// The scores of a program on the two sets, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProvenanceScores {
    /// The score on the cases it was made with.
    pub train: f64,
    /// The score on the cases that were kept apart. This is the score of the program.
    pub val: f64,
    /// How many cases were kept apart.
    pub n: usize,
}
