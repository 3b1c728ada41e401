//! `goal = "…"`, `think` and `form = chat`: nodes with a signature in place of a prompt.
//!
//! A smart node has no prompt of its own: its goal, fields and output are a
//! *signature*, from which `llmnode-smart` writes one, and which its optimisers
//! change. So what other nodes write in a prompt is refused here, and the node's
//! fields must be readable from JSON, since examples are files.

mod check;
mod emit;

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;

use crate::literals::unexpected;

pub(crate) use check::check;
pub(crate) use emit::{emit, stub};

/// How a signature is written: in DSPy's two forms, or in our own, which has no
/// word.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    Chat,
    Json,
}

impl Form {
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const WANTED: &str = "`form` takes `chat` or `json`, after DSPy's two adapters; without it \
                              the form is llmnode's own";
        match input.fork().call(Ident::parse_any) {
            Ok(name) if name == "chat" || name == "json" => {
                input.call(Ident::parse_any)?;
                Ok(if name == "chat" {
                    Self::Chat
                } else {
                    Self::Json
                })
            }
            _ => Err(unexpected(input, WANTED)),
        }
    }
}
