//! Strings of a length, format or pattern.

use serde_json::Value;

use super::keywords::{Schema, bounds};
use super::nth::Nth;
use super::pattern::Pattern;

const WORD: &str = "text";
/// How many texts of a pattern are looked at for one that has the length, too.
const TRIES: usize = 16;

/// A string that the schema allows; there is no room for a minimum length beyond `room` characters.
pub(super) fn string(schema: &Schema, nth: &mut Nth, room: usize) -> String {
    let (min, max) = bounds(schema, "minLength", "maxLength");
    let min = min.min(room);
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    let n = nth.rest();
    let patterned = text("pattern").and_then(Pattern::parse).and_then(|pattern| {
        let mut texts = (n..n.saturating_add(TRIES)).filter_map(|n| pattern.text(n, min));
        texts.find(|text| (min..=max).contains(&text.chars().count()))
    });
    let formatted = || text("format").and_then(|format| formatted(format, n));
    patterned.or_else(formatted).unwrap_or_else(|| plain(min, max, n))
}

/// The word, repeated or cut to the length; further ones have a number, in place of letters if need be.
fn plain(min: usize, max: usize, n: usize) -> String {
    let length = WORD.len().max(min).min(max);
    let mut text: String = WORD.chars().cycle().take(length).collect();
    if n > 0 {
        let number = n.to_string();
        text.truncate(max.saturating_sub(number.len()));
        text.push_str(&number);
        text.truncate(max);
    }
    text
}

fn formatted(format: &str, n: usize) -> Option<String> {
    let (second, day) = (n % 60, n % 28 + 1);
    let number = if n == 0 { String::new() } else { n.to_string() };
    Some(match format {
        "date-time" => format!("2000-01-{day:02}T00:00:{second:02}Z"),
        "date" => format!("2000-01-{day:02}"),
        "time" => format!("00:00:{second:02}Z"),
        "duration" => format!("PT{n}S"),
        "ip" | "ipv4" => format!("192.0.2.{}", n % 254 + 1),
        "ipv6" => format!("2001:db8::{:x}", n % 0xffff + 1),
        "uuid" => format!("00000000-0000-4000-8000-{:012x}", n % (1 << 48)),
        "email" | "idn-email" => format!("user{number}@example.com"),
        "hostname" | "idn-hostname" => format!("host{number}.example.com"),
        "uri" | "uri-reference" | "iri" | "iri-reference" | "url" => format!("https://example.com/{number}"),
        _ => return None,
    })
}
