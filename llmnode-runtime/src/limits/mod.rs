//! Limits: how much a call, a node, a flow, a map and a run may spend.
//!
//! Every scope that has limits has a [`meter`]. A request that is about to be sent
//! comes in; it goes out with room reserved at all meters that concern it, or with
//! a refusal that says which limit, how much was spent, and where it is set. In
//! this order:
//!
//! 1. *Estimate* (`request_tokens.rs`, `prompt.rs`): how many tokens the request
//!    has, and may have at most. What providers counted before corrects the
//!    estimate.
//! 2. *First request* (`first.rs`): under a limit of tokens or money, the first
//!    request of a model goes alone, since nobody knows yet what the provider adds
//!    to a prompt. It comes before the reservation, which needs what it shows.
//! 3. *Reserve* (`reserve.rs`): with all meters or with none, under one lock
//!    (`RunLimits::gate`). Else two requests could each hold what the other one
//!    waits for. Where there is no room *yet*, the request waits in the queue of
//!    the meter that is full; where there can be none, it is refused at once.
//! 4. *Settle* (`reserve.rs`): what was reserved is replaced by what was spent.
//!    This happens on every way out, as the reservation settles itself when it is
//!    dropped: a call that is cancelled in the middle of an answer has spent money,
//!    too.
//!
//! An unknown figure is never taken for zero: an answer without usage under a limit
//! of tokens makes the limit *unenforceable*, which refuses the next request.
//! Estimates only count for requests that broke off.
//!
//! Requests of a map over a batch API (`batch_room.rs`) reserve for up to a day.
//! Others do not wait for them: they fail at once.
//!
//! Time is of another kind (`deadline.rs`): it is not reserved, it only runs out.
//!
//! The room knows no models and sends nothing. It is told what a request is and what came of it.

mod batch_name;
mod batch_room;
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

pub(crate) use batch_room::BatchRoom;
pub use call::CallLimits;
pub(crate) use call::MapLimits;
pub(crate) use deadline::{Deadline, TimeLeft, before_deadline};
pub use limits::Limits;
pub use prior_spend::PriorSpend;
pub(crate) use prompt::PromptTokens;
pub(crate) use refusal::is_of_map;
pub(crate) use request_tokens::{AnswerTokens, RequestTokens};
pub(crate) use reserve::Reservation;
pub(crate) use run::LimitedNode;
pub(crate) use run::RunLimits;
