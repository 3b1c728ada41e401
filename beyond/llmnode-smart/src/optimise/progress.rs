//! The progress of an optimisation.

/// The progress of an optimisation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct OptimiseProgress {
    /// The requests so far. An answer from a journal counts as the request that it replaces.
    pub requests: u64,
    /// The limit of requests.
    pub limit: u64,
    /// How many programs were proposed so far.
    pub proposals: usize,
    /// The best score on the validation cases so far, including the start's.
    pub best: Option<f64>,
}
