//! The place of a mark in the messages as they are sent.
//!
//! The decision counts messages from the end, since instructions that are added
//! later stand at the beginning. Here it becomes a message and a number of bytes in
//! it.

use llmnode_model::Role;

use super::cache_fields::SharedEnd;
use super::messages::Messages;
use super::prepared_request::PreparedRequest;

/// Where what is kept in the cache ends: behind so many bytes of that message's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheMark {
    pub(crate) message: usize,
    pub(crate) bytes: usize,
}

impl PreparedRequest<'_> {
    /// What is written before the messages, such as a form of the answer, moves the mark.
    pub(crate) fn cache_mark(&self, messages: &Messages<'_>) -> Option<CacheMark> {
        let count = messages.iter().count();
        let mark = match self.cache.shared? {
            SharedEnd::System => {
                let systems = messages
                    .iter()
                    .take_while(|message| message.role == Role::System);
                end_of(messages, systems.count().checked_sub(1)?)
            }
            SharedEnd::Message(behind) => end_of(messages, count.checked_sub(behind + 1)?),
            SharedEnd::Within(behind, bytes) => CacheMark {
                message: count.checked_sub(behind + 1)?,
                bytes,
            },
        };
        (mark.bytes > 0).then_some(mark)
    }
}

/// Behind all of the message's text.
fn end_of(messages: &Messages<'_>, message: usize) -> CacheMark {
    let text = messages.iter().nth(message).map(|message| &message.content);
    CacheMark {
        message,
        bytes: text.map_or(0, String::len),
    }
}
