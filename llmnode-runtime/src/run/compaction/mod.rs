//! Conversations that become too long for their model's window, of nodes with
//! `compact`.
//!
//! In comes a request that is about to be asked, with its conversation; out goes a
//! [`Compaction`](crate::ledger::Compaction): a list of edits that makes it
//! shorter, or none. `run/model_attempts/compact.rs` carries it out, in this order:
//!
//! 1. What a journal says was done before this request is done again, and nothing
//!    else (`ModelAttempts::replay_compactions`).
//! 2. If the journal has no answer either, [`Compacting::due`] says whether it is
//!    time (`state.rs`): by the tokens that the provider counted for the last
//!    answer and an estimate of what came since (`size.rs`), against the mark of
//!    the node's rules (`rules.rs`); or since the model has refused the request,
//!    which the policy `FullWindow` notes.
//! 3. The first step leaves out old results of tools (`results.rs`).
//! 4. If that would not be enough and the node says `with = ..`, the part before
//!    the last rounds is summed up instead (`summary.rs`), by a call of a node of
//!    the user's (`sum_up.rs`), which reads it as text (`transcript.rs`). What
//!    binds has to be quoted from what the program wrote (`quotes.rs`; the policy
//!    `InventedQuote` tells the model of what is not).
//! 5. The edits are written into the journal before the request goes out, and done.
//!
//! The messages as they were stay here (`originals.rs`): a pause, a failed call and
//! a store of conversations keep them, so that compacting never loses anything but
//! what the model is sent. A store keeps what was done to them, too, for the next
//! turn (`covers.rs`). A node without `compact` is sent all messages, and passes on
//! what earlier calls did to them (`passed_on.rs`).

mod covers;
mod originals;
mod passed_on;
mod program;
mod quotes;
mod results;
mod rules;
mod size;
mod state;
mod sum_up;
mod summary;
mod transcript;

pub(super) use passed_on::PassedOn;
pub(crate) use quotes::Sources;
pub use rules::{Compact, Mark};
pub(super) use size::{counted_tokens, used_tokens};
pub(super) use state::{Compacting, Due, ToSumUp};
pub(super) use sum_up::ByNode;
pub(crate) use sum_up::SumUp;
pub use summary::{Quote, Summary};
pub use transcript::Transcript;
