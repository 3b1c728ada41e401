//! A turn that the provider paused: the answer that continues it has the text of both.

use std::sync::Arc;

use llmnode_model::{Message, ProviderState, Request, Role};

/// Text only: a typed answer is what follows the pause.
pub(super) fn with_paused(
    request: &Request,
    text: String,
    carried: Option<Arc<ProviderState>>,
) -> (String, Option<Arc<ProviderState>>) {
    let paused = paused(request);
    if paused.is_empty() || request.output.is_some() {
        return (text, carried);
    }
    let turns = paused.iter().map(|message| {
        (
            &*message.content,
            message.carried().map(|carried| &**carried),
        )
    });
    let joined = ProviderState::joined(turns.chain([(&*text, carried.as_deref())]));
    let texts: Vec<&str> = paused
        .iter()
        .map(|message| &*message.content)
        .chain([&*text])
        .collect();
    (texts.concat(), joined.map(Arc::new))
}

/// How many such turns the next answer continues.
pub(super) fn count(request: &Request) -> usize {
    paused(request).len()
}

fn paused(request: &Request) -> &[Message] {
    let asked = request.question.map(usize::from);
    let behind = asked
        .and_then(|at| request.messages.get(at + 1..))
        .unwrap_or_default();
    let goes_on =
        |message: &&Message| message.role == Role::Assistant && message.calls().is_empty();
    let count = behind.iter().rev().take_while(goes_on).count();
    &behind[behind.len() - count..]
}
