//! Earlier messages of a conversation in a node's field.

use llmnode_model::Message;

/// Operations on a history. It is in the prelude.
pub trait History {
    /// Keeps at most this many messages, the newest ones. The rest never begins with the result of a tool whose call is
    /// missing, since providers refuse such a conversation.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{Message, ToolCall, prompt::History};
    ///
    /// let mut history = vec![
    ///     Message::user("How many books?"),
    ///     Message::assistant("").calling([ToolCall::new("call_1", "count", "{}")]),
    ///     Message::tool("call_1", "3"),
    ///     Message::assistant("Three."),
    /// ];
    /// history.cut(2);
    /// assert_eq!(history, [Message::assistant("Three.")]);
    /// ```
    fn cut(&mut self, newest: usize);
}

impl History for Vec<Message> {
    fn cut(&mut self, newest: usize) {
        let cut = self.len().saturating_sub(newest);
        let results = self[cut..].iter().take_while(|message| message.answers().is_some()).count();
        let first = if cut == 0 { 0 } else { cut + results };
        self.drain(..first);
    }
}

/// A field that `#[node(history)]` marks: anything that can be borrowed as a slice of messages.
///
/// That is a `Vec<Message>`, a `&[Message]`, an array, a `Box` or an `Arc` of a slice, a reference to any of them, or your
/// own type with `AsRef<[Message]>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the history of a node",
    label = "no messages",
    note = "`#[node(history)]` takes a `Vec<Message>`, a `&[Message]`, or another type with `AsRef<[Message]>`; an empty \
            history adds nothing, so there is no need for an `Option`"
)]
pub trait PromptHistory: AsRef<[Message]> {}

#[diagnostic::do_not_recommend]
impl<T: AsRef<[Message]> + ?Sized> PromptHistory for T {}
