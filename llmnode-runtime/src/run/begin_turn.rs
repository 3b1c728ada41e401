//! Begins the turn of a call in a conversation: where the prompt is known, and nothing was asked.

use std::pin::pin;

use llmnode_model::{Message, Request};

use super::context::CallContext;
use super::failure::Failure;
use super::turn::Turn;
use crate::conversation::NewTurn;
use crate::error::NodeError;
use crate::limits::{Deadline, before_deadline};

/// Claims the conversation, as long as the call's deadline allows to wait for it,
/// and puts its history into the request.
pub(super) async fn begin_turn(
    context: &CallContext<'_>,
    turn: &Turn<'_>,
    request: &mut Request,
    opening: usize,
    deadline: &Option<Deadline>,
) -> Result<(), NodeError> {
    let question = request.messages.get(opening..).unwrap_or_default();
    let mut approves = None;
    if let Some(origin) = context.origin
        && origin.is_approval()
        && let Some(paused) = origin.pause()
    {
        approves = Some(paused.id());
    }
    let clock = &*context.core.clock;
    let new = NewTurn {
        id: journaled_id(context, question),
        approves,
        clock,
    };
    let begin = pin!(turn.begin(new, request, opening));
    let begun = before_deadline(deadline.as_ref(), clock, begin).await;
    begun.unwrap_or_else(|late| Err(Failure::too_late(late).into_error()))
}

/// The same in each process that repeats the call, since it does not depend on the history.
fn journaled_id(context: &CallContext<'_>, question: &[Message]) -> Option<String> {
    let recorder = context.call.recorder()?;
    let request = Request::new(question.to_vec());
    let within = match context.origin {
        Some(origin) => origin.journal.as_deref(),
        None => None,
    };
    let journaled = recorder.conversation(&request, [None; 3], within)?;
    Some(journaled.conversation.to_string())
}
