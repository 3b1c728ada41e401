//! Earlier messages of a conversation, as a node's field holds them.

use crate::model::Message;

/// A field that `#[node(history)]` marks: anything that lends messages as a slice.
///
/// That is a `Vec<Message>`, a `&[Message]`, an array, a `Box` or an `Arc` of a slice, a reference to any of them, or a
/// type of one's own with `AsRef<[Message]>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the history of a node",
    label = "no messages",
    note = "`#[node(history)]` takes a `Vec<Message>`, a `&[Message]`, or another type with `AsRef<[Message]>`; an empty \
            history adds nothing, so there is no need for an `Option`"
)]
pub trait PromptHistory: AsRef<[Message]> {}

#[diagnostic::do_not_recommend]
impl<T: AsRef<[Message]> + ?Sized> PromptHistory for T {}
