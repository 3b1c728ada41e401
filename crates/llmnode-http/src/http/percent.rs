//! Percent-encoding, in URLs and in the forms of queries.

/// Invalid percent-encoding stays as it is.
pub(crate) fn decoded(text: &str) -> String {
    let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let (bytes, mut decoded, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let encoded = bytes.get(at + 1..at + 3).filter(|_| byte == b'%').and_then(hex);
        decoded.push(encoded.unwrap_or(byte));
        at += if encoded.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Leaves letters, digits, and these bytes.
pub(crate) fn encoded(text: &str, unchanged: &[u8]) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || unchanged.contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// For a name or a value of a query.
#[cfg(feature = "async-openai")]
pub(crate) fn form_encoded(text: &str) -> String {
    encoded(text, b"*-._ ").replace(' ', "+")
}

/// Names and values of a query, which has `+` for a space.
pub(crate) fn query_pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    let text = |part: &str| decoded(&part.replace('+', " "));
    query.split('&').filter(|pair| !pair.is_empty()).map(move |pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (text(name), text(value))
    })
}
