//! Which names providers take for a tool.

use syn::{Error, LitStr};

/// A name that is written.
pub(crate) fn check_tool_name(name: LitStr) -> syn::Result<LitStr> {
    match tool_name_error(&name.value()) {
        Some(fault) => Err(Error::new(name.span(), fault)),
        None => Ok(name),
    }
}

/// All providers take these characters, and no other is taken by all.
fn fits(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// 64 is the least of the providers' limits. The proposed name has `_` in place of
/// what does not fit.
pub(super) fn tool_name_error(name: &str) -> Option<String> {
    if name.len() <= 64 && name.chars().all(fits) {
        return None;
    }
    let proposed: String = name
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .take(64)
        .collect();
    Some(format!(
        "the name of a tool is 1 to 64 of the characters `a-z A-Z 0-9 _ -`; write `name = \
         \"{proposed}\"`"
    ))
}
