//! Which headers carry a key.

/// Whether a header of this name carries a key, as `authorization`, `x-api-key`, `x-auth-token` and `cookie` do.
pub fn is_credential(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    ["auth", "key", "token", "secret", "cookie"].iter().any(|part| header.contains(part))
}
