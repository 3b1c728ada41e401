//! `recover(category = [step, …], …)`: what follows a failure of the node.
//!
//! In: a list of categories, each with a stack of steps. Out: a constant that the
//! runtime reads when an attempt fails. The order of work is that of all macros:
//! `parse.rs` reads, `check.rs` (with `wait.rs`) refuses what can never happen,
//! `emit.rs` writes. `keys.rs` mirrors the runtime's categories, since a macro
//! cannot use the runtime; a test compares the two.
//!
//! Whether a stack makes sense is decided by what a category *is*: an answer can be
//! repaired, a failure of the transport retried, and neither helps when the request
//! itself is wrong.

mod check;
mod emit;
mod keys;
mod parse;
mod wait;

use proc_macro2::{Ident, Span};
use syn::LitStr;

use crate::time::Wait;
use keys::Group;

pub(crate) use check::{AnswerKind, check};
pub(crate) use emit::emit;
pub(crate) use parse::parse;

/// The steps for one category or group, in order: each is used up before the next.
pub(crate) struct Stack {
    // As it was written, for messages; `group` is what it belongs to.
    pub(crate) key: Ident,
    pub(crate) group: Group,
    // The brackets.
    pub(crate) at: Span,
    /// `None`: one had a fault, which was already reported.
    pub(crate) steps: Option<Vec<Step>>,
}

/// The name is kept for the place of errors.
pub(crate) struct Step {
    pub(crate) name: Ident,
    pub(crate) action: Action,
}

/// What one step does after a failure; `times` is how often before the next step is
/// taken.
pub(crate) enum Action {
    Retry { times: u32, wait: Option<Wait> },
    Repair { times: u32 },
    Model(LitStr),
    Fallback,
    Bubble,
}
