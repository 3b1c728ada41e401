//! Limits: how much a call, a node and a run may spend.

#[expect(clippy::module_inception, reason = "the file holds `Limits`")]
mod limits;
mod money;
mod prices;

pub use limits::Limits;
pub use prices::{Price, Prices};
