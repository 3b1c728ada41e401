//! What llmnode's crates need from inside. Not part of the public interface: it may
//! change in any release. What a provider of another crate can take, too, is in
//! [`ext`](crate::ext) and [`gate`](crate::gate).

pub use crate::api_kind::join_field;
pub use crate::ids::Ids;
pub use crate::json_text::{inexact_number, pretty};
pub use crate::message_json::Content;
pub use crate::panics::{catch_panic, catch_panic_async, catch_panic_of, lock};
pub use crate::text::{Sha256Text, fnv, is_old_hash, sha256, sha256_hex};
pub use crate::usage::is_standard_price;
