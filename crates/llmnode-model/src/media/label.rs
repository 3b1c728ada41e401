//! The short form of an attachment, shown in place of its content.

use llmnode_reader::text::one_line;

use super::data::Data;
use crate::text::fnv;

/// FNV-1a. Test snapshots contain it, so it must not change.
fn short_hash(content: &str) -> u32 {
    let hash = fnv(content.as_bytes());
    (hash ^ (hash >> 32)) as u32
}

pub(super) fn data(data: &Data) -> String {
    format!(
        "{}, {} bytes, #{:08x}",
        data.media_type(),
        data.size(),
        short_hash(data.base64())
    )
}

/// On one line, without query, fragment, user name and password, which may hold a
/// key. A hash marks what is left out.
pub(super) fn url(url: &str) -> String {
    let open = &url[..url.find(['?', '#']).unwrap_or(url.len())];
    let (scheme, rest) = open.split_once("://").unwrap_or(("", open));
    let user = rest[..rest.find('/').unwrap_or(rest.len())]
        .rfind('@')
        .map_or(0, |at| at + 1);
    let shown = format!("{scheme}://{}", one_line(&rest[user..], 200));
    if shown == url {
        shown
    } else {
        format!("{shown}, #{:08x}", short_hash(url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stay_as_they_are() {
        assert_eq!(
            format!("{:08x} {:08x}", short_hash(""), short_hash("a")),
            "4fd0bfc1 296230c0"
        );
    }

    #[test]
    fn urls_show_no_keys() {
        assert_eq!(
            url("https://a.example/b/c.png"),
            "https://a.example/b/c.png"
        );
        for secret in [
            "https://a.example/c.png?sig=hush",
            "https://a.example/c.png#hush",
            "https://me:hush@a.example/c.png",
        ] {
            let shown = url(secret);
            assert!(
                shown.starts_with("https://a.example/c.png, #") && !shown.contains("hush"),
                "{shown}"
            );
        }
    }
}
