//! Strings of a length, format or pattern.

use serde_json::{Map, Value};

use super::pattern::Pattern;
use super::rng::Rng;

const WORDS: [&str; 24] = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "iris", "juniper", "kestrel",
    "lumen", "maple", "nectar", "onyx", "pebble", "quartz", "river", "sable", "tundra", "umber", "violet",
    "willow", "zephyr",
];
/// How far a length is drawn beyond its minimum.
const SLACK: usize = 24;
/// How many draws a pattern gets to meet the length too.
const TRIES: usize = 100;

/// A string that the schema admits, of at most `room` characters.
pub(super) fn string(schema: &Map<String, Value>, rng: &mut Rng, room: usize) -> String {
    let length =
        |key: &str| schema.get(key).and_then(Value::as_u64).map(|n| usize::try_from(n).unwrap_or(room));
    let (min, max) = (length("minLength").unwrap_or(0).min(room), length("maxLength").map(|n| n.min(room)));
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    let patterned = text("pattern").and_then(Pattern::parse).and_then(|pattern| {
        let mut draws = (0..TRIES).filter_map(|_| pattern.draw(rng, min));
        draws.find(|drawn| (min..=max.unwrap_or(room)).contains(&drawn.chars().count()))
    });
    let formatted = || text("format").and_then(|format| formatted(format, rng));
    patterned.or_else(formatted).unwrap_or_else(|| match (min, max) {
        (0, None) => words(rng),
        _ => of_length(rng, min, max),
    })
}

/// A word.
pub(super) fn word(rng: &mut Rng) -> &'static str {
    rng.pick(&WORDS).copied().unwrap_or("word")
}

fn words(rng: &mut Rng) -> String {
    let count = rng.between(1, 3);
    (0..count).map(|_| word(rng)).collect::<Vec<_>>().join(" ")
}

fn of_length(rng: &mut Rng, min: usize, max: Option<usize>) -> String {
    let most = max.unwrap_or(usize::MAX).min(min.saturating_add(SLACK));
    let length = rng.between(min.max(1).min(most), most);
    let mut out = String::new();
    while out.len() < length {
        out.push_str(word(rng));
        out.push(' ');
    }
    out.truncate(length); // the words are ASCII
    if out.ends_with(' ') {
        out.pop();
        out.push('s');
    }
    out
}

fn formatted(format: &str, rng: &mut Rng) -> Option<String> {
    let mut n = |lo: usize, hi: usize| rng.between(lo, hi);
    let date = format!("{}-{:02}-{:02}", n(2000, 2035), n(1, 12), n(1, 28));
    let time = format!("{:02}:{:02}:{:02}Z", n(0, 23), n(0, 59), n(0, 59));
    Some(match format {
        "date-time" => format!("{date}T{time}"),
        "date" => date,
        "time" => time,
        "duration" => format!("PT{}M", n(1, 90)),
        "ipv4" => format!("192.0.2.{}", n(1, 254)),
        "ipv6" => format!("2001:db8::{:x}", n(1, 0xffff)),
        "uuid" => {
            let (a, b, c) = (n(0, 0xffff_ffff), n(0, 0xffff), n(0, 0xfff));
            format!("{a:08x}-{b:04x}-4{c:03x}-{:04x}-{:012x}", n(0x8000, 0xbfff), n(0, 0xffff_ffff))
        }
        "email" | "idn-email" => format!("{}@example.com", word(rng)),
        "hostname" | "idn-hostname" => format!("{}.example.com", word(rng)),
        "uri" | "uri-reference" | "iri" | "iri-reference" | "url" => {
            format!("https://example.com/{}", word(rng))
        }
        _ => return None,
    })
}
