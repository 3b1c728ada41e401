//! `recover(category = [step, …], …)`: what follows a failure of the node.

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

pub(crate) struct Stack {
    pub(crate) key: Ident,
    pub(crate) group: Group,
    pub(crate) at: Span,
    /// `None`: one had a fault, which was already reported.
    pub(crate) steps: Option<Vec<Step>>,
}

pub(crate) struct Step {
    pub(crate) name: Ident,
    pub(crate) action: Action,
}

pub(crate) enum Action {
    Retry { times: u32, wait: Option<Wait> },
    Repair { times: u32 },
    Model(LitStr),
    Fallback,
    Bubble,
}
