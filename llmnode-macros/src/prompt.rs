//! Prompts: their grammar, where things stand in them, and the compiler's view of their variables.

mod fault;
mod file;
pub(crate) mod locate;
pub(crate) mod probe;
pub(crate) mod source;
mod spec;
pub(crate) mod template;

use proc_macro2::{Ident, Span};

/// The identifier that a prompt means by a name, which it writes without `r#`. `None` if there is none.
pub(crate) fn identifier(name: &str, span: Span) -> Option<Ident> {
    if syn::parse_str::<Ident>(name).is_ok() {
        return Some(Ident::new(name, span));
    }
    syn::parse_str::<Ident>(&format!("r#{name}")).ok().map(|_| Ident::new_raw(name, span))
}
