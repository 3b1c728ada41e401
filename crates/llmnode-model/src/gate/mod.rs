//! What holds requests back: after a rate limit, in an outage, and at a pace.
//!
//! A [`Gate`] is that of one endpoint, one key and one model. A request passes it
//! in three steps: it lines up (and gets a place in time), it enters when its time
//! has come, and it says how it ended. What it says moves the gate:
//!
//! - A rate limit closes it, until the wait that the server asks for has passed.
//!   Then one request probes. If that is answered, the gate opens, and those in
//!   line leave in order at the pace that the server took before; if it is refused,
//!   the gate is closed again.
//! - An outage closes it, too: three different calls failed in a row, or a connection was refused.
//!
//! It knows no clock: every method gets the time. It never waits: that is up to whoever asks.

mod counter;
mod gates;
mod lanes;
mod limits;
mod line;
mod place;
mod state;

pub use gates::{Gates, PaceTicket};
pub use limits::{RateLimit, RateLimits};
pub use line::{Entry, Gate, Slot, Ticket};
