//! What the batch APIs of all providers share (feature `batch`).
//!
//! In: a request, which [`line`] writes as it would be sent at once, only never as
//! a stream. Then a provider's own module (`openai/batch.rs`, `anthropic/batch.rs`,
//! `gemini/batch.rs`) orders, looks and finds results, over the small requests of
//! [`exchange`]; files of results are read line by line ([`results`]), never whole. Out: for each line a status and a body, which
//! [`line`] reads as the response of its request: classified, learned from and redacted as if it had come at once.

pub(crate) mod exchange;
pub(crate) mod line;
pub(crate) mod list;
pub(crate) mod order;
pub(crate) mod results;
