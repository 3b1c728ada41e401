//! Conversations in a database: whole turns, one writer, nothing lost, nothing paid twice. Use it through the `llmnode` crate.
//!
//! A [`Chat`] is what a call takes. It reads the row of the conversation, decides what may follow (`turns.rs`, which knows no
//! database), and writes the row over the one that it has read, or begins again if somebody else was faster. A [`Store`] therefore
//! only has to write a row and its new messages in one transaction, under a condition: all rules about turns are in one place, for
//! all databases, and [`Conversations::check_store`] tells whether a store keeps its part.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod body;
mod chat;
mod check_store;
mod conversations;
mod history;
mod ids;
mod info;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod turns;

pub use chat::{Chat, ChatMessage};
pub use conversations::Conversations;
pub use info::ChatInfo;
pub use llmnode_runtime::{BegunTurn, Covers, NewTurn, TurnStore};
pub use store::{
    Blob, Change, ChatRow, Claim, KeptPause, KeptTurn, Parent, Pin, Store, StoredMessage,
};
