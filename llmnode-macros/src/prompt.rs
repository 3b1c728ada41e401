//! Prompts: their grammar, positions in them, and how the compiler reports their variables.
//!
//! In comes a literal, or a file (`source.rs`); out go segments of text and
//! variables, each with its place. `node/variables.rs` compares them with the
//! fields and the state.
//!
//! - `template.rs` has the grammar. It knows no tokens, so that a fault in a file
//!   is found like one in a literal.
//! - `spec.rs` and `display_check.rs` say what a format asks of a variable's type.
//! - `fault.rs` words a fault, with the line of the prompt and a caret below it:
//!   where the compiler can underline the whole literal alone, this picture is what
//!   leads to the place.
//! - `locate.rs`, `mask.rs` and `probe.rs` make the compiler underline a variable
//!   within the literal. `probe.rs` says how.

pub(crate) mod display_check;
pub(crate) mod fault;
mod file;
pub(crate) mod locate;
pub(crate) mod mask;
pub(crate) mod probe;
pub(crate) mod source;
pub(crate) mod spec;
pub(crate) mod template;

use proc_macro2::{Ident, Span};

/// Without `r#`. `gen` is a keyword in the edition of generated code, but may be a
/// name in the user's.
pub(crate) fn identifier(name: &str, span: Span) -> Option<Ident> {
    if name != "gen" && syn::parse_str::<Ident>(name).is_ok() {
        return Some(Ident::new(name, span));
    }
    syn::parse_str::<Ident>(&format!("r#{name}"))
        .ok()
        .map(|_| Ident::new_raw(name, span))
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::identifier;

    #[test]
    fn keywords_are_raw() {
        for (name, written) in [("goal", "goal"), ("type", "r#type"), ("gen", "r#gen")] {
            assert_eq!(
                identifier(name, Span::call_site()).unwrap().to_string(),
                written
            );
        }
        assert!(identifier("self", Span::call_site()).is_none());
    }
}
