//! Limits: how much a call, a node and a run may spend.
//!
//! Every scope that has limits has a meter. Before each attempt the call reserves with all meters that concern
//! it; when the usage is known, or the attempt ends without it, the reservation is settled.

mod call;
mod deadline;
mod first;
#[expect(clippy::module_inception, reason = "the file holds `Limits`")]
mod limits;
mod meter;
mod prior_spend;
mod prompt;
mod quantity;
mod refusal;
mod request_tokens;
mod reserve;
mod run;
#[cfg(test)]
mod tests;

pub use call::CallLimits;
pub(crate) use call::MapLimits;
pub(crate) use deadline::{Deadline, TimeLeft};
pub use limits::Limits;
pub use prior_spend::PriorSpend;
pub(crate) use prompt::PromptTokens;
pub(crate) use refusal::is_of_map;
pub(crate) use request_tokens::{AnswerTokens, RequestTokens};
pub(crate) use reserve::Reservation;
pub(crate) use run::LimitedNode;
pub(crate) use run::RunLimits;
