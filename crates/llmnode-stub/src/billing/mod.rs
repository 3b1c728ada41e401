//! What a provider bills for prompts whose beginning it keeps: each provider's rules of marks, least length, look-back, price and
//! time to live.
//!
//! In: the bodies of requests with their times, in the order in which they came. Out, for each: how many tokens of the prompt were
//! read from the cache, written to it, and paid in full. [`blocks`] cuts a body into the blocks of its provider's order; a prefix is
//! known by the hash of all blocks up to its end. Facts change: `providers-today` of November 2026 is where these are from (OpenAI's
//! guide to prompt caching, Anthropic's, and the types of their clients).
//!
//! A token is four bytes of the JSON, so that figures compare with each other, and with no tokenizer.

mod blocks;
mod cache_rules;
mod meter;
mod older;
mod server_bill;

pub use blocks::CachePrompt;
pub use cache_rules::{BilledPrompt, CacheRules};
pub use meter::CacheMeter;
pub(super) use server_bill::Billing;
