//! The attribute macros of llmnode; use them through the `llmnode` crate.

mod crate_path;
mod diagnostics;
mod keyed;
mod node;
mod prompt;

use proc_macro::TokenStream;

/// Makes a struct a node: its fields fill the variables of a prompt.
#[proc_macro_attribute]
pub fn llm_node(arguments: TokenStream, item: TokenStream) -> TokenStream {
    node::expand(arguments.into(), item.into()).into()
}
