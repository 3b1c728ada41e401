//! What a text looks like from a place on.

use super::scan::skip_blank;

/// Whether nothing follows but what closes JSON, a call or a fence.
pub(super) fn only_closers(text: &str) -> bool {
    let mut at = 0;
    loop {
        at = skip_blank(text, at, &mut |_, _| {});
        match text.as_bytes().get(at) {
            Some(b'}' | b']' | b')' | b';') => at += 1,
            None => return true,
            Some(_) => return false,
        }
    }
}

/// Whether a string comes first, in a list, an object or a list of objects, as hardly anything but JSON begins.
pub(in super::super) fn begins_with_a_string(text: &str) -> bool {
    // Each bracket of many asks, so that not many are looked at for each.
    const FEW: usize = 8;
    let mut text = text.as_bytes();
    for _ in 0..FEW {
        match text {
            [b'[', inner @ ..] => text = inner.trim_ascii_start(),
            _ => break,
        }
    }
    text.strip_prefix(b"{").map_or(text, <[u8]>::trim_ascii_start).starts_with(b"\"")
}
