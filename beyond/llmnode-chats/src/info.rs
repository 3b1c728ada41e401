//! What lists say of a conversation.

use std::time::{Duration, SystemTime};

use crate::store::ChatRow;

/// A conversation in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatInfo {
    /// Its id.
    pub id: String,
    /// How many turns were appended to it.
    pub revision: u64,
    /// How many messages it has, with those that it shares.
    pub messages: u64,
    /// When it was last written.
    pub changed: SystemTime,
    /// The conversation that it was forked from.
    pub parent: Option<String>,
    /// Calls of tools wait for a decision.
    pub is_paused: bool,
    /// A turn is under way, or has failed.
    pub is_unfinished: bool,
}

impl ChatInfo {
    pub(crate) fn of(row: ChatRow) -> Self {
        let changed = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(row.changed));
        ChatInfo {
            // A row that says a time that no clock has says nothing.
            changed: changed.unwrap_or(SystemTime::UNIX_EPOCH),
            parent: row.parent.map(|parent| parent.chat),
            is_paused: row.pause.is_some(),
            is_unfinished: row.unfinished.is_some(),
            id: row.id,
            revision: row.revision,
            messages: row.messages,
        }
    }
}
