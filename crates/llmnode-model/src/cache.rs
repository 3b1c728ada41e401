//! What of a prompt is worth keeping in the provider's cache.
//!
//! In: what the program says ([`Cache`]), and what the attempt loop knows of a call
//! ([`CachePlan`]): whether a second request with the same beginning is likely, and
//! where the part ends that such requests share. Out, on a request: a wish. The
//! model's handle knows the host and the API, and decides what is sent. Nothing of
//! it changes an answer, so it is in no fingerprint, journal, cassette or
//! transcript.

use serde::{Deserialize, Serialize};

/// Whether the provider is asked to keep the beginning of prompts, so that it is
/// paid for once: reading it back costs about a tenth, writing it up to a quarter
/// more.
///
/// Set it with `cache = ..` on a node, and with [`Settings::cache`] on calls, runs
/// and registered models. Default:
/// [`Auto`](Cache::Auto). The times are the least that is wanted, in what the provider has: 5 minutes or an hour of Anthropic, 30
/// minutes or 12 hours of OpenAI from gpt-5.6 on. Where nothing can be set, nothing
/// is sent; what a model refuses is left out from then on.
///
/// [`Settings::cache`]: https://docs.rs/llmnode/latest/llmnode/struct.Settings.html#structfield.cache
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::Cache;
///
/// assert_eq!(Cache::default(), Cache::Auto);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cache {
    /// Only where a second request with the same beginning is likely: tools, a
    /// history, a map of ten items or more, a second call of a node soon after the
    /// first. Only at the hosts of OpenAI and Anthropic themselves, and only for
    /// 1,024 tokens or more.
    #[default]
    Auto,
    /// Nothing is sent that concerns the cache. What a provider keeps by itself, it still keeps.
    Off,
    /// Five minutes after its last use, or longer, at any host, and for every call.
    Minutes5,
    /// An hour, or longer, at any host, and for every call.
    Hour1,
}

/// How likely it is that the beginning of a request is sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeats {
    /// A call of its own. The handle sees whether the node is called again.
    #[default]
    Unknown,
    /// An item of a large map: others have the same beginning.
    Items,
    /// The next turn begins with all of this request.
    Turns,
}

/// What a call knows of the cache: what is wanted, and what its requests share with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachePlan {
    /// `None`: nobody has set it, so that the model's handle decides, and last `Auto`.
    pub setting: Option<Cache>,
    /// Whether its beginning is sent again.
    pub repeats: Repeats,
    /// The hash of the node's name.
    pub node: u64,
    /// How many bytes at the beginning of the prompt's message are the same in all
    /// calls of the node.
    pub shared_text: usize,
}
