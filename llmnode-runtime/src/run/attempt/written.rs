//! What a listener is shown of an answer while it comes.

use llmnode_model::{Category, Completion, Delta};
use llmnode_reader::ext::Thoughts;

use crate::run::listener::Listener;

/// What a listener has of an answer so far.
pub(in crate::run) struct Written<'l> {
    pub(super) listener: &'l Listener<'l>,
    pub(super) has_begun: bool,
    /// As it came, thoughts included.
    pub(super) text: String,
    /// Finds those in a text.
    pub(super) thoughts: Option<Thoughts>,
}

impl Written<'_> {
    pub(super) fn delta(&mut self, delta: Delta<'_>) {
        let listener = self.listener;
        self.has_begun |= !delta.text().is_empty();
        let Delta::Text(piece) = delta else {
            return listener.delta(delta);
        };
        self.text.push_str(piece);
        match &mut self.thoughts {
            Some(thoughts) => thoughts.push(piece, &mut |piece| listener.spoken(piece)),
            None => listener.delta(delta),
        }
    }

    /// What is returned is what was shown: the rest of it is shown now, such as all
    /// of it where a model does not stream, and a text that is another one is shown
    /// anew. Beside calls, a text is no answer.
    pub(super) fn end(mut self, completion: Option<&Completion>) {
        if let Some(Completion { text, calls, .. }) = completion
            && *text != self.text
        {
            if let Some(rest) = text.strip_prefix(&*self.text) {
                self.delta(Delta::Text(rest));
            } else if calls.is_empty() {
                self.begin_anew(text);
            }
        }
        if let Some(thoughts) = &mut self.thoughts {
            let listener = self.listener;
            thoughts.end(&mut |piece| listener.spoken(piece));
        }
    }

    /// Some servers say something else at the end than they said before.
    fn begin_anew(&mut self, text: &str) {
        self.listener.restarted(Category::BadResponse);
        self.thoughts = self.thoughts.take().map(|_| Thoughts::default());
        self.delta(Delta::Text(text));
    }
}
