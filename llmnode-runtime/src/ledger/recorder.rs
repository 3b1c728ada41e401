//! Who keeps what happens where a crash does not reach it.

use super::hooks::CallInfo;
use super::record::{AttemptRecord, CallRecord};
use crate::ids::AttemptId;
use crate::model::Request;
use crate::{BoxError, BoxFuture};

/// Takes down attempts and calls as they begin and end.
pub trait Recorder: Send + Sync {
    /// Takes an event down, without a wait: also guards come here, as they are dropped.
    fn note(&self, event: Event<'_>);

    /// What tells a request from others, and the next answer to it that an earlier process was given. `names`: what the
    /// model is known as. `None`: this keeps no answers.
    fn replay(&self, request: &Request, names: [Option<&str>; 3]) -> Option<Replay> {
        let _ = (request, names);
        None
    }

    /// Writes what was taken down to where it stays.
    fn write(&self) -> BoxFuture<'_, Result<(), BoxError>>;
}

/// A request whose answer is kept.
pub struct Replay {
    /// What tells it from others.
    pub request: String,
    /// An answer that was kept, and not given to another such request yet.
    pub answer: Option<String>,
}

/// What happens to a call. `path` tells the node's type.
#[allow(missing_docs, reason = "the fields say what they are")]
pub enum Event<'e> {
    /// It begins; told only of nodes that must not be executed again.
    CallBegan { call: CallInfo<'e>, path: &'e str },
    /// A request is about to go out.
    AttemptBegan { call: CallInfo<'e>, path: &'e str, attempt: &'e AttemptRecord },
    /// The attempt has ended, whatever way.
    AttemptEnded(&'e AttemptRecord),
    /// The request did not go out after all.
    AttemptForgotten(AttemptId),
    /// An answer to the request of that name was accepted.
    Answered { request: &'e str, answer: &'e str },
    /// The call has ended, whatever way.
    CallEnded { path: &'e str, record: &'e CallRecord },
}
