//! `goal = "…"`, `think` and `form = chat`: nodes with a signature in place of a prompt.

mod check;
mod emit;

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;

use crate::literals::unexpected;

pub(crate) use check::check;
pub(crate) use emit::{emit, stub};

#[derive(Clone, Copy)]
pub(crate) enum Form {
    Chat,
    Json,
}

impl Form {
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const WANTED: &str = "`form` takes `chat` or `json`, after DSPy's two adapters; without it the form is llmnode's own";
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
