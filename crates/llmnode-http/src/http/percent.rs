//! Percent-encoding in URLs, and the pairs of queries.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What a query has unchanged, beside the space.
#[cfg(feature = "async-openai")]
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_').remove(b' ');

/// What a user's name or password has unchanged; what is encoded stays so.
const USER: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'!').remove(b'%');

/// What a part of a path has unchanged.
#[cfg(feature = "gemini")]
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[cfg(feature = "gemini")]
pub(crate) fn segment_encoded(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

/// Invalid percent-encoding stays as it is.
pub(crate) fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

pub(crate) fn user_encoded(text: &str) -> String {
    utf8_percent_encode(text, USER).to_string()
}

#[cfg(feature = "async-openai")]
pub(crate) fn form_encoded(text: &str) -> String {
    utf8_percent_encode(text, FORM).to_string().replace(' ', "+")
}

/// A query has `+` for a space.
pub(crate) fn query_pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    let text = |part: &str| decoded(&part.replace('+', " "));
    query.split('&').map(move |pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (text(name), text(value))
    })
}
