//! The fields of OpenAI's caches, as both of its APIs have them.

use serde::Serialize;

use crate::api::cache_fields::CacheOptions;

/// How the prompt is kept.
#[derive(Clone, Copy, Serialize)]
pub(super) struct SentCacheOptions {
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl From<CacheOptions> for SentCacheOptions {
    fn from(options: CacheOptions) -> Self {
        SentCacheOptions {
            mode: options.mode,
            ttl: options.ttl,
        }
    }
}

/// On a part: what is kept ends here.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Breakpoint {
    mode: &'static str,
}

pub(super) const BREAKPOINT: Breakpoint = Breakpoint { mode: "explicit" };
