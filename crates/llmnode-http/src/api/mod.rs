//! What all APIs of models share: a handle, its settings, and the way of a request.
//! What differs is a `Wire`.
//!
//! `ask.rs` is the way of a request, and the file to read first:
//!
//! 1. `shape.rs`: how the request is asked, which is what the program wants, less
//!    what is believed that this model refuses. `prepared_request.rs` keeps with it
//!    all that the reading of the answer needs: names that were changed, the
//!    function that stands for an output type.
//! 2. `messages.rs`, `pieces.rs`, `names.rs`, `sent_calls.rs`: the conversation in
//!    a form that the API takes. What came from a provider goes back to it as it
//!    came, and to no other.
//! 3. The API's own code writes the body, and `http` sends it.
//! 4. `receive.rs` reads one piece of JSON, or events; the API's own code makes a
//!    completion of either. Both ways end in the same code (`read_answer.rs`,
//!    `ends.rs`), so that a stream cannot differ from a whole answer.
//! 5. `error_response.rs`: an answer that is none. If the server says what it
//!    refuses, the belief is noted, and the error has the attempt loop ask again at
//!    once; `shape.rs` then writes the request in another way.
//!
//! A handle is made once and cloned; `inner.rs` is what its clones share: beliefs,
//! the memory of caches, connections.
//!
//! A new difference between APIs is a field or a function in `wire.rs`, never a
//! question after the name of an API in this room.

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
