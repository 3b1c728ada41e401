//! Begins the turn of a call in a conversation: where the prompt is known, and nothing was asked.

use llmnode_model::{Message, Request};

use super::context::CallContext;
use super::failure::Failure;
use super::turn::Turn;
use crate::conversation::NewTurn;
use crate::error::NodeError;
use crate::limits::Deadline;

/// Claims the conversation, as long as the call's deadline allows to wait for it, and puts its history into the request.
pub(super) async fn begin_turn(
    context: &CallContext<'_>,
    turn: &Turn<'_>,
    request: &mut Request,
    opening: usize,
    deadline: &Option<Deadline>,
) -> Result<(), NodeError> {
    let question = request.messages.get(opening..).unwrap_or_default();
    let approval = context.origin.filter(|origin| origin.is_approval());
    let new = NewTurn {
        id: journaled_id(context, question),
        approves: approval
            .and_then(|origin| origin.pause())
            .map(|paused| paused.id()),
        clock: &*context.core.clock,
    };
    let begin = turn.begin(new, request, opening);
    let Some(deadline) = deadline else {
        return begin.await;
    };
    let begun = deadline.limit(&*context.core.clock, begin).await;
    begun.unwrap_or_else(|late| Err(Failure::too_late(late).into_error()))
}

/// The same in each process that repeats the call, since it does not depend on the history.
fn journaled_id(context: &CallContext<'_>, question: &[Message]) -> Option<String> {
    let recorder = context.call.recorder()?;
    let request = Request::new(question.to_vec());
    let within = context.origin.and_then(|origin| origin.journal.as_deref());
    let journaled = recorder.conversation(&request, [None; 3], within)?;
    Some(journaled.conversation)
}
