//! Percent-encoding in URLs, and the pairs of queries.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

#[cfg(feature = "async-openai")]
const ESCAPED_IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'*')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b' ');

/// Encoded characters of user names and passwords stay so.
const ESCAPED_IN_USER: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'%');

#[cfg(feature = "gemini")]
const ESCAPED_IN_SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A part of a path: a name with a slash stays one part.
#[cfg(feature = "gemini")]
pub(crate) fn segment_encoded(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED_IN_SEGMENT).to_string()
}

pub(crate) fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// As a client would write it into a URL.
pub(crate) fn user_encoded(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED_IN_USER).to_string()
}

/// As forms write it: a space is `+`.
#[cfg(feature = "async-openai")]
pub(crate) fn form_encoded(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED_IN_QUERY)
        .to_string()
        .replace(' ', "+")
}

/// In a query, `+` is a space.
pub(crate) fn query_pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded_with_spaces(name), decoded_with_spaces(value))
    })
}

fn decoded_with_spaces(part: &str) -> String {
    decoded(&part.replace('+', " "))
}
