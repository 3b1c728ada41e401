//! The bytes of a string literal's value in its source, for any source.

use proc_macro2::Literal;

use super::Held;
use crate::prompt::locate::source_offsets;

/// Where `token` is a string literal, each character of its value is at its offset: as itself, or as an escape.
/// Whatever else it is, there is an answer.
pub(crate) fn holds(token: &str) -> Held {
    // As the compiler does before it reads anything.
    let token = &token.replace("\r\n", "\n");
    if token.contains('\r') {
        // A carriage return by itself is no Rust.
        return Ok(());
    }
    let literal = token.parse::<Literal>().ok().map(syn::Lit::new);
    let Some(syn::Lit::Str(literal)) = literal.filter(|literal| literal.suffix().is_empty()) else {
        source_offsets(token, "");
        source_offsets(token, token);
        return Ok(());
    };
    let value = literal.value();
    let Some(offsets) = source_offsets(token, &value) else {
        return Err(format!("no offsets of {value:?}"));
    };
    if offsets.len() != value.len() + 1 || !offsets.is_sorted() {
        return Err(format!("{offsets:?} of {value:?}"));
    }
    for (at, found) in value.char_indices() {
        let written = token.get(offsets[at]..).unwrap_or_default();
        if !written.starts_with([found, '\\']) {
            return Err(format!("{found:?} at {written:?}"));
        }
    }
    let closing = token.get(offsets[value.len()]..).unwrap_or_default();
    if closing.trim_end_matches('#') == "\"" {
        Ok(())
    } else {
        Err(format!("the end at {closing:?}"))
    }
}
