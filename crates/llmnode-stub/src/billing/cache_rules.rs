//! What each provider keeps, for how long, and at what price.

use std::time::Duration;

/// The rules of a provider's cache, for [`StubServerBuilder::billing`](crate::StubServerBuilder::billing) and for a
/// [`CacheMeter`](crate::CacheMeter) of your own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheRules {
    pub(super) provider: CacheProvider,
    /// Fewer tokens are not kept.
    pub(super) least: u64,
    pub(super) ttl: Duration,
    pub(super) long_ttl: Duration,
    pub(super) write: f64,
    pub(super) long_write: f64,
    pub(super) read: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CacheProvider {
    /// Marks, and one by itself in implicit mode.
    OpenAi,
    /// By itself, on one of many machines.
    OlderOpenAi,
    Anthropic,
}

impl CacheRules {
    /// OpenAI from gpt-5.6 on: a request writes at its newest message of the user or result of a tool, unless it says `explicit`, and
    /// at up to four marks. Writing costs 1.25 times the input (12 hours: 2.5 times), reading a tenth.
    #[must_use]
    pub const fn openai() -> CacheRules {
        CacheRules {
            provider: CacheProvider::OpenAi,
            least: 1_024,
            ttl: Duration::from_secs(30 * 60),
            long_ttl: Duration::from_secs(12 * 60 * 60),
            write: 1.25,
            long_write: 2.5,
            read: 0.1,
        }
    }

    /// OpenAI up to gpt-5.5: whatever is long enough is kept on the machine that had it, in steps of 128 tokens, and writing costs
    /// nothing. A key leads to the same machine, up to 15 requests a minute; without one, machines take turns.
    #[must_use]
    pub const fn older_openai() -> CacheRules {
        CacheRules {
            provider: CacheProvider::OlderOpenAi,
            least: 1_024,
            ttl: Duration::from_secs(5 * 60),
            long_ttl: Duration::from_secs(5 * 60),
            write: 1.0,
            long_write: 1.0,
            read: 0.1,
        }
    }

    /// Anthropic's Sonnet: only what is marked is kept, by up to four marks; each looks back 20 blocks for what is there. Writing
    /// costs 1.25 times the input (an hour: 2 times), reading a tenth.
    #[must_use]
    pub const fn anthropic() -> CacheRules {
        CacheRules {
            provider: CacheProvider::Anthropic,
            least: 1_024,
            ttl: Duration::from_secs(5 * 60),
            long_ttl: Duration::from_secs(60 * 60),
            write: 1.25,
            long_write: 2.0,
            read: 0.1,
        }
    }

    /// What the prompt of a request costs, in tokens of input at their full price.
    #[must_use]
    pub fn cost(&self, billed: &BilledPrompt) -> f64 {
        let short = billed.written.saturating_sub(billed.written_long);
        let from_cache = billed.read.saturating_add(billed.written);
        let full = billed.input.saturating_sub(from_cache);
        priced(full, 1.0)
            + priced(billed.read, self.read)
            + priced(short, self.write)
            + priced(billed.written_long, self.long_write)
    }
}

/// The tokens of one prompt, by what was paid for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BilledPrompt {
    /// All of them.
    pub input: u64,
    /// Read from the cache.
    pub read: u64,
    /// Written to the cache.
    pub written: u64,
    /// Of these, the ones that are kept for longer.
    pub written_long: u64,
}

fn priced(tokens: u64, price: f64) -> f64 {
    tokens as f64 * price
}
