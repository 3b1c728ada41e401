//! Which names carry a credential.

const WORDS: [&str; 19] = [
    "auth",
    "authentication",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "jwt",
    "key",
    "oauth",
    "passwd",
    "password",
    "pwd",
    "secret",
    "sig",
    "signature",
    "token",
    "apikey",
    "accesskey",
];

/// Endings of compound words, such as `authtoken` and `xapikey`.
const ENDS: [&str; 5] = ["apikey", "authorization", "password", "secret", "token"];

/// Whether a header or a query's parameter of this name carries a credential, as
/// `authorization`, `x-api-key`, `x-auth-user`, `accessToken` and `cookie` do.
/// Whole words count, so `x-portkey-provider`, `max_tokens` and `author` do not.
pub fn is_credential(name: &str) -> bool {
    words(name)
        .split(' ')
        .any(|word: &str| WORDS.contains(&word) || ENDS.iter().any(|end| word.ends_with(end)))
}

/// Lower case, separated by spaces; `accessToken` is two words.
fn words(name: &str) -> String {
    let mut spaced = String::with_capacity(name.len() + 4);
    let mut behind_small = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || (behind_small && c.is_ascii_uppercase()) {
            spaced.push(' ');
        }
        if c.is_ascii_alphanumeric() {
            spaced.push(c.to_ascii_lowercase());
        }
        behind_small = c.is_ascii_lowercase();
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credentials() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "cf-aig-authorization",
            "X-API-Key",
            "api-key",
            "api_key",
            "key",
            "apiKey",
            "APIKEY",
            "xapikey",
            "x-goog-api-key",
            "Ocp-Apim-Subscription-Key",
            "x-auth-user",
            "X-Auth-Token",
            "helicone-auth",
            "accessToken",
            "x-amz-security-token",
            "X-Amz-Signature",
            "sig",
            "cf-access-client-secret",
            "Cookie",
            "password",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in [
            "x-model",
            "openai-organization",
            "x-portkey-provider",
            "max_tokens",
            "author",
            "x-authority",
            "keyword",
            "x-monkey",
            "api-version",
            "secretary",
            "design",
            "x-client-request-id",
            "",
            "é",
        ] {
            assert!(!is_credential(name), "{name}");
        }
    }
}
