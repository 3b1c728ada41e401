//! What is sent of a provider's cache, and where its marks stand. The decision is in `caching`.

use std::time::Duration;

use super::cache_memory::Share;
use crate::refusal::parts::Parts;

/// What is sent that concerns the cache.
/// The writers of bodies decide nothing: they put these into their places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CacheFields {
    /// Where the part ends that other requests have, too: it gets a mark.
    pub(crate) shared: Option<SharedEnd>,
    /// The end of the conversation so far gets a mark (Anthropic), or is kept by itself.
    pub(crate) end: bool,
    /// Anthropic's hour.
    pub(crate) is_long: bool,
    pub(crate) options: Option<CacheOptions>,
    pub(crate) key: Option<CacheKey>,
    /// How long what is read or written stays. `None`: nothing is asked for.
    pub(crate) ttl: Option<Duration>,
    /// The parts that are wanted, whether the model takes them or not.
    pub(crate) unfiltered: Parts,
    /// What the memory is told when the request has ended.
    pub(crate) share: Share,
}

impl CacheFields {
    /// Whether it writes what others are going to read.
    pub(crate) fn writes_shared(&self) -> bool {
        let is_marked = self.shared.is_some() || self.key.is_some_and(|key| key.lane.is_some());
        is_marked && !self.share.is_repeat
    }

    /// Whether anything is marked.
    pub(crate) fn marks(&self) -> bool {
        self.shared.is_some() || self.end
    }
}

/// OpenAI's `prompt_cache_options`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheOptions {
    pub(crate) mode: &'static str,
    pub(crate) ttl: Option<&'static str>,
}

/// OpenAI's `prompt_cache_key`: requests of one key go to one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheKey {
    pub(crate) hash: u64,
    /// A machine takes some 15 requests a minute: so many lanes there are for a
    /// node that asks more.
    pub(crate) lane: Option<u32>,
}

impl CacheKey {
    /// As the field has it: a hash, since the text may be read by others.
    pub(crate) fn text(self) -> String {
        match self.lane {
            Some(lane) => format!("{:016x}-{lane}", self.hash),
            None => format!("{:016x}", self.hash),
        }
    }
}

/// The last message, counted from the end, or a part of one, that requests share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SharedEnd {
    /// The end of the system's text.
    System,
    /// The end of the message with so many behind it.
    Message(usize),
    /// So many bytes of that message.
    Within(usize, usize),
}
