//! What `url`, the crate of browsers' rules, makes of a URL, and what we do.

use proptest::prelude::*;

use super::*;

/// As `url` understands it.
const SAME: Result<&str, &str> = Ok("");

/// The URL, what `url` 2.5 makes of it (an address, or its error), and what we do
/// (a part of our error).
const URLS: &[(&str, &str, Result<&str, &str>)] = &[
    (
        "https://api.openai.com/v1",
        "https://api.openai.com/v1",
        SAME,
    ),
    (
        "http://127.0.0.1:8080/v1/",
        "http://127.0.0.1:8080/v1/",
        SAME,
    ),
    (
        "HTTPS://API.OpenAI.com/V1",
        "https://api.openai.com/V1",
        SAME,
    ),
    (" https://h/v1 ", "https://h/v1", SAME),
    ("https://h", "https://h/", SAME),
    ("https://h?key=1", "https://h/?key=1", SAME),
    (
        "https://h/v1?api-version=2024-10-21",
        "https://h/v1?api-version=2024-10-21",
        SAME,
    ),
    ("https://h/v1#part", "https://h/v1#part", Ok("https://h/v1")),
    ("https://h:443/v1", "https://h/v1", SAME),
    ("http://h:80", "http://h/", SAME),
    ("http://h:8443", "http://h:8443/", SAME),
    ("https://h:80/", "https://h:80/", SAME),
    ("http://h:/v1", "http://h/v1", SAME),
    ("http://h:080/v1", "http://h/v1", SAME),
    ("http://h:0/v1", "http://h:0/v1", SAME),
    ("http://h:65535/", "http://h:65535/", SAME),
    (
        "http://h:65536/",
        "invalid port number",
        Err("has a port above 65535"),
    ),
    (
        "http://h:99999/",
        "invalid port number",
        Err("has a port above 65535"),
    ),
    ("http://h:-1/", "invalid port number", Err("cannot be read")),
    ("http://h:8o/", "invalid port number", Err("cannot be read")),
    ("http://me@h/", "http://me@h/", Err("a user or a password")),
    (
        "http://me:secret@h/",
        "http://me:secret@h/",
        Err("a user or a password"),
    ),
    ("http://@h/", "http://h/", Err("a user or a password")),
    (
        "http://me:secret@h:1@g/",
        "http://me:secret%40h%3A1@g/",
        Err("cannot be read"),
    ),
    ("http:///v1", "http://v1/", Err("has no host")),
    ("http://", "empty host", Err("has no host")),
    (
        "http:/h/v1",
        "http://h/v1",
        Err("has no // before its host"),
    ),
    ("http:h/v1", "http://h/v1", Err("has no // before its host")),
    (
        "//h/v1",
        "relative URL without a base",
        Err("cannot be read"),
    ),
    ("h/v1", "relative URL without a base", Err("cannot be read")),
    (
        "localhost:8080/v1",
        "localhost:8080/v1",
        Err("is neither http nor https"),
    ),
    ("ftp://h/v1", "ftp://h/v1", Err("is neither http nor https")),
    (
        "file:///etc/passwd",
        "file:///etc/passwd",
        Err("is neither http nor https"),
    ),
    (
        "unix:/run/model.sock",
        "unix:/run/model.sock",
        Err("is neither http nor https"),
    ),
    ("http://h\\v1", "http://h/v1", Err("a backslash")),
    ("http:\\\\h\\v1", "http://h/v1", Err("a backslash")),
    ("http://h/a\\b", "http://h/a/b", Err("a backslash")),
    (
        "http://localhost./v1",
        "http://localhost./v1",
        Ok("http://localhost/v1"),
    ),
    ("http://LOCALHOST/v1", "http://localhost/v1", SAME),
    (
        "http://a.localhost./v1",
        "http://a.localhost./v1",
        Ok("http://a.localhost/v1"),
    ),
    (
        "http://models.example./v1",
        "http://models.example./v1",
        SAME,
    ),
    (
        "http://.models.example/",
        "http://.models.example/",
        Err("a dot too many"),
    ),
    ("http://my_server:8000/v1", "http://my_server:8000/v1", SAME),
    (
        "http://münchen.example/",
        "http://xn--mnchen-3ya.example/",
        Err("not ASCII"),
    ),
    (
        "http://xn--mnchen-3ya.example/",
        "http://xn--mnchen-3ya.example/",
        SAME,
    ),
    (
        "http://ｅｘａｍｐｌｅ.com/",
        "http://example.com/",
        Err("not ASCII"),
    ),
    (
        "http://ex%61mple.com/",
        "http://example.com/",
        Err("a character other than"),
    ),
    (
        "http://127.0.0.1%2f@h/",
        "http://127.0.0.1%2f@h/",
        Err("a user or a password"),
    ),
    (
        "http://a b/",
        "invalid international domain name",
        Err("cannot be read"),
    ),
    ("http://h/a b", "http://h/a%20b", Err("cannot be read")),
    ("http://h/ä", "http://h/%C3%A4", SAME),
    ("http://h/a/../b/./c", "http://h/b/c", SAME),
    ("http://h/%7emodels/%2E%2E/v1", "http://h/v1", SAME),
    ("http://h/a%2fb", "http://h/a%2fb", Ok("http://h/a%2Fb")),
    ("http://h/a//b", "http://h/a//b", SAME),
    ("http://h/a%zz", "http://h/a%zz", Err("cannot be read")),
    (
        "http://h/{deployment}",
        "http://h/%7Bdeployment%7D",
        Err("cannot be read"),
    ),
    ("http://h/a|b", "http://h/a|b", Err("cannot be read")),
    (
        "http://0x7f.1/",
        "http://127.0.0.1/",
        Err("four decimal numbers"),
    ),
    (
        "http://2130706433/",
        "http://127.0.0.1/",
        Err("four decimal numbers"),
    ),
    (
        "http://127.1/",
        "http://127.0.0.1/",
        Err("four decimal numbers"),
    ),
    (
        "http://0177.0.0.1/",
        "http://127.0.0.1/",
        Err("four decimal numbers"),
    ),
    (
        "http://127.0.0.1./",
        "http://127.0.0.1/",
        Err("four decimal numbers"),
    ),
    (
        "http://256.0.0.1/",
        "invalid IPv4 address",
        Err("four decimal numbers"),
    ),
    (
        "http://1.2.3/",
        "http://1.2.0.3/",
        Err("four decimal numbers"),
    ),
    ("http://[::1]:8080/v1", "http://[::1]:8080/v1", SAME),
    ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/", SAME),
    (
        "http://[::FFFF:10.0.0.1]/",
        "http://[::ffff:a00:1]/",
        Ok("http://[::ffff:10.0.0.1]/"),
    ),
    (
        "http://[fe80::1%25eth0]/",
        "invalid IPv6 address",
        Err("cannot be read"),
    ),
    (
        "http://[v1.a]/",
        "invalid IPv6 address",
        Err("has no address of IPv6 in its brackets"),
    ),
    (
        "http://[::1/",
        "invalid IPv6 address",
        Err("cannot be read"),
    ),
    ("http://h/v1\tx", "http://h/v1x", Err("cannot be read")),
    (
        "http://h?a=b c&d=ä",
        "http://h/?a=b%20c&d=%C3%A4",
        Err("cannot be read"),
    ),
    ("http://h!/", "http://h!/", Err("a character other than")),
    ("http://a,b/", "http://a,b/", Err("a character other than")),
    ("http://a..b/", "http://a..b/", Err("a dot too many")),
];

#[test]
fn every_url_of_the_table() {
    assert!(URLS.len() >= 60);
    for (given, by_url, ours) in URLS {
        let made = Url::parse(given).map(|url| url.to_string());
        match (&made, ours) {
            (Ok(made), Ok("")) => assert_eq!(made, by_url),
            (Ok(made), Ok(ours)) => assert_eq!(made, ours),
            (Err(fault), Err(part)) => {
                assert!(
                    fault.contains(part) && !fault.contains("secret"),
                    "{given}: {fault}"
                );
            }
            _ => panic!("{given}: {made:?}"),
        }
        // What is refused here leads nowhere at all, and what is taken is taken again.
        if let Ok(made) = made {
            assert_eq!(Url::parse(&made).unwrap().to_string(), made);
        }
    }
}

#[test]
fn references_are_resolved() {
    let base = Url::parse("https://h:8443/v1/chat/completions?key=1").unwrap();
    for (reference, target) in [
        ("/v2/chat", Some("https://h:8443/v2/chat")),
        (
            "?again=1",
            Some("https://h:8443/v1/chat/completions?again=1"),
        ),
        ("../models#all", Some("https://h:8443/v1/models")),
        ("//g/v1", Some("https://g/v1")),
        ("http://H/v1", Some("http://h/v1")),
        ("https://me@h:8443/", None),
        ("/\\g/", None),
        ("ftp://h/", None),
        ("not a place", None),
    ] {
        let resolved = base.resolve(reference).map(|url| url.to_string());
        assert_eq!(resolved.as_deref(), target, "{reference}");
    }
}

#[test]
fn an_origin_is_scheme_host_and_port() {
    let url = |text| Url::parse(text).unwrap();
    assert!(url("https://H/a").is_same_origin(&url("https://h:443/b?c")));
    for other in [
        "http://h/a",
        "https://h:8443/a",
        "https://g/a",
        "https://h./a",
    ] {
        assert!(!url("https://h/a").is_same_origin(&url(other)), "{other}");
    }
}

proptest! {
    #[test]
    fn whatever_is_taken_is_taken_again(text in "[hH]ttps?://[a-zA-Z0-9.:@\\[\\]%_ä-]{0,12}[/?#]?\\PC{0,12}") {
        if let Ok(url) = Url::parse(&text) {
            let uri = url.to_uri();
            prop_assert_eq!(uri.host(), Some(url.host()));
            prop_assert_eq!(Url::parse(&url.to_string()), Ok(url));
        }
    }

    #[test]
    fn any_text_is_read(base in any::<String>(), reference in any::<String>()) {
        let _ = Url::parse(&base);
        let _ = Url::parse("http://h/a").unwrap().resolve(&reference);
    }
}
