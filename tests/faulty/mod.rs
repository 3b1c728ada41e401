//! A server that fails in all kinds of ways, a node to ask it, and the account of both sides' books. The property
//! tests over sockets and the soak share it.

pub(crate) mod account;
mod act;
mod call;
mod clock;
#[path = "../../examples/cases/http_date.rs"]
mod http_date;
mod node;

pub(crate) use act::{Act, Ask};
pub(crate) use call::{Caller, REFUSING};
