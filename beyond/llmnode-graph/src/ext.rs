//! What a page or a command of another crate takes, to edit graphs and to run them with what a person typed.
//!
//! Not needed to load and run a graph. It changes more often than the rest of the crate. `llmnode-serve` and the command
//! `llmnode-graph` are written with it.
//!
//! | to | take |
//! |---|---|
//! | mark the place of a [`Fault`](crate::Fault) in the text of its file | [`locate`] |
//! | read what a person typed as an input, or as JSON | [`typed_input`], [`exact_json`] |
//! | check arguments that a person changed, before the tool runs | [`refused_arguments`] |
//!
//! ```
//! use llmnode_graph::ext::{exact_json, locate};
//!
//! let text = r#"{"nodes": [{"id": "a"}]}"#;
//! assert_eq!(&text[locate(text, "/nodes/0/id")], r#""a""#);
//! // Read into 64 bits, it would be another number.
//! assert!(exact_json("12345678901234567890123").is_err());
//! ```

pub use crate::faults::locate;
pub use crate::file::{exact_json, typed_input};
pub use crate::graph::refused_arguments;
