//! Settings of call, model, run and node: how models are asked, and what follows their failures.
//!
//! [`Settings`] is what people write, and each field may be left open. It is written in up to five places. From these, one set of
//! figures comes out for each call, and one request for each attempt:
//!
//! 1. `resolved.rs` looks fields up, nearest place first: the call, the registered
//!    model that is asked, the run, the node's attribute, the run's defaults. It is
//!    lazy, since most calls need few fields.
//! 2. It refuses what makes no sense *together*, with all faults at once and before
//!    anything is sent: a place may be right alone and wrong beside another
//!    (retries, and a node that is not idempotent). What can be seen in the
//!    attribute alone the macro has refused before, at compile time.
//! 3. `recovery/` turns what is said about failures into one stack of steps for
//!    each kind of failure, and follows a call through it.
//!
//! Not every place may set every field. A run has settings for all kinds of nodes,
//! so each node ignores what it cannot do. A registered model only says how it is
//! asked, so there anything else is a mistake.
//!
//! The room sends nothing and waits for nothing: it says how long, and `run/` does it.

mod recovery;
mod resolved;
#[expect(clippy::module_inception, reason = "the file holds `Settings`")]
mod settings;

pub(crate) use recovery::{AfterFailure, AtGate, FailureFacts, NodeKind, Progress, Stacks};
pub use recovery::{Backoff, Failures, Recovery};
pub(crate) use resolved::{Resolved, faults};
pub use settings::Settings;
pub(crate) use settings::{EMPTY_SETTINGS, setters};
