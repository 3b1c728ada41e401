//! A server that fails in all kinds of ways, a node that asks it, and the comparison of the ledger with the server's log.
//! Shared by the property tests over sockets and the soak test.

pub(crate) mod account;
mod act;
mod call;
mod clock;
#[path = "../../examples/cases/http_date.rs"]
mod http_date;
mod node;

pub(crate) use act::{Act, Ask};
pub(crate) use call::{Caller, REFUSING};
