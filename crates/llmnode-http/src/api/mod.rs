//! What all APIs of models share: a handle, its settings, and the way of a request. What differs is a `Wire`.

pub(crate) mod ask;
pub(crate) mod assemble;
pub(crate) mod cache_fields;
pub(crate) mod cache_mark;
pub(crate) mod cache_memory;
mod caching;
#[cfg(test)]
pub(crate) mod cuts;
pub(crate) mod ends;
pub(crate) mod error_response;
pub(crate) mod expected_calls;
pub(crate) mod halves;
#[cfg(any(feature = "anthropic", feature = "gemini"))]
pub(crate) mod handle;
pub(crate) mod inner;
pub(crate) mod messages;
pub(crate) mod names;
pub(crate) mod object_end;
pub(crate) mod padding;
pub(crate) mod pieces;
pub(crate) mod prepared_request;
mod prompt_parts;
pub(crate) mod read_answer;
pub(crate) mod receive;
mod refused;
pub(crate) mod request_shape;
pub(crate) mod response_head;
pub(crate) mod sent_calls;
pub(crate) mod settings;
mod shape;
pub(crate) mod unreadable;
pub(crate) mod wire;
