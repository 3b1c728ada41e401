//! For Anthropic's server tools: a turn that takes long is paused, and goes on when
//! its conversation is sent back as it is (`pause_turn`). The answer that ends it
//! has the text of all of its parts.

use std::sync::Arc;

use llmnode_model::{Message, ProviderState, Request, Role};

use super::policy::{AttemptView, Change, Next, Policy};
use crate::run::response::Response;

pub(super) struct PausedTurn;

impl Policy for PausedTurn {
    /// Text only: a typed answer is what follows the pause.
    fn received(&self, response: &Response, attempt: &mut AttemptView<'_>) -> Option<Next> {
        if response.round.is_some() || attempt.request.output.is_some() {
            return None;
        }
        let paused = paused_turns(attempt.request);
        if paused.is_empty() {
            return None;
        }
        let mut text = String::new();
        for message in paused {
            text.push_str(&message.content);
        }
        text.push_str(&response.text);
        let carried = joined_state(paused, response);
        Some(Next::Adapt(Change::Joined { text, carried }))
    }
}

/// How many such turns the next answer continues.
pub(in crate::run) fn count_paused(request: &Request) -> usize {
    paused_turns(request).len()
}

/// What the provider put beside the parts, as one.
fn joined_state(paused: &[Message], last: &Response) -> Option<Arc<ProviderState>> {
    let before = paused.iter().map(|message| {
        let carried = message.carried().map(|carried| &**carried);
        (&*message.content, carried)
    });
    let parts = before.chain([(&*last.text, last.carried.as_deref())]);
    ProviderState::joined(parts).map(Arc::new)
}

/// The model's messages without calls at the end of the request.
fn paused_turns(request: &Request) -> &[Message] {
    let Some(question) = request.question else {
        return &[];
    };
    let first = usize::from(question) + 1;
    let behind = request.messages.get(first..).unwrap_or_default();
    let count = behind
        .iter()
        .rev()
        .take_while(|message| is_paused(message))
        .count();
    &behind[behind.len() - count..]
}

fn is_paused(message: &Message) -> bool {
    message.role == Role::Assistant && message.calls().is_empty()
}
