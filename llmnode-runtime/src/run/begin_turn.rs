//! Begins the turn of a call in a conversation: where the prompt is known, and nothing was asked.

use std::pin::pin;

use llmnode_model::{Message, Request};
use serde_json::json;

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
    let mut new = NewTurn::new(&*context.core.clock);
    if let Some(origin) = context.origin
        && origin.is_approval()
    {
        new.approves = origin.pause();
    }
    name(&mut new, context, turn.conversation(), question);
    in_time(context, deadline, turn.begin(new, request, opening)).await
}

/// What a store does for a call, before the loop watches the deadline.
pub(super) async fn in_time(
    context: &CallContext<'_>,
    deadline: &Option<Deadline>,
    part: impl Future<Output = Result<(), NodeError>>,
) -> Result<(), NodeError> {
    let part = pin!(part);
    let outcome = before_deadline(deadline.as_ref(), &*context.core.clock, part).await;
    outcome.unwrap_or_else(|late| Err(Failure::too_late(late).into_error()))
}

/// By the same names in each process that repeats the call: they do not depend on
/// the history. Turns are counted in each conversation by itself, since those of
/// others may begin in another order the next time. Older versions counted all of a
/// journal together.
fn name(
    new: &mut NewTurn<'_>,
    context: &CallContext<'_>,
    conversation: &str,
    question: &[Message],
) {
    let Some(recorder) = context.call.recorder() else {
        return;
    };
    let request = Request::new(question.to_vec());
    let within = match context.origin {
        Some(origin) => origin.journal.as_deref(),
        None => None,
    };
    let in_conversation = json!([conversation, within]).to_string();
    let journaled = recorder.conversation(&request, [None; 3], Some(&in_conversation));
    new.id = journaled.map(|journaled| journaled.conversation.to_string());
    let older = recorder.conversation(&request, [None; 3], within);
    new.older_id = older.map(|older| older.conversation.to_string());
}
