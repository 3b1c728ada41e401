//! The marks of Anthropic's cache, up to which a prompt is kept: four in all.
//!
//! The one at the top of a request moves along with its end. A request finds what
//! the last one has kept if that ends at most 20 blocks before a mark of its own. A
//! turn with many calls has more, so the end of the last request then gets a mark,
//! too.

use serde::Serialize;

use crate::api::cache_mark::CacheMark;
use crate::api::messages::Messages;
use crate::api::prepared_request::PreparedRequest;

/// Behind so many blocks, a mark of its own finds what the last request has kept.
/// The API looks back 20.
pub(super) const MOST_BLOCKS: usize = 18;

/// Where marks stand, and for how long what they end is kept.
/// At most three are used, so that a program may add one of its own.
#[derive(Clone, Copy)]
pub(super) struct Marks {
    /// At the top of the request.
    pub(super) end: Option<CacheControl>,
    /// In the system's text or a message.
    pub(super) shared: Option<CacheMark>,
    control: CacheControl,
}

/// As it is sent; without `ttl` it is five minutes.
#[derive(Clone, Copy, Serialize)]
#[serde(tag = "type", rename = "ephemeral")]
pub(super) struct CacheControl {
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl Marks {
    /// From the decision of `api/caching.rs`, in terms of the messages as they are
    /// sent.
    pub(super) fn of(prepared: &PreparedRequest<'_>, messages: &Messages<'_>) -> Marks {
        let cache = prepared.cache;
        let control = CacheControl {
            ttl: cache.is_long.then_some("1h"),
        };
        Marks {
            end: cache.end.then_some(control),
            shared: prepared.cache_mark(messages),
            control,
        }
    }

    /// Of this message: behind how many bytes of its text a mark stands.
    pub(super) fn within(self, message: usize) -> Option<usize> {
        let mark = self.shared.filter(|mark| mark.message == message)?;
        Some(mark.bytes)
    }

    pub(super) fn control(self) -> CacheControl {
        self.control
    }
}
