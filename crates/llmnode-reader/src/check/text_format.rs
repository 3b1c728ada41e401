//! Texts with a `format`: dates, times, ids. What else a format may be is for the
//! type or a validator to check.
//!
//! What is accepted is what the types of common crates accept: a check that is
//! stricter than the type would refuse answers that the program takes. In words it
//! is the strictest form, which a model then writes.

/// A format that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextFormat {
    Date,
    DateTime,
    PartialDateTime,
    Uuid,
}

impl TextFormat {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "date" => TextFormat::Date,
            "date-time" => TextFormat::DateTime,
            "partial-date-time" => TextFormat::PartialDateTime,
            "uuid" => TextFormat::Uuid,
            _ => return None,
        })
    }

    /// Whether the text is in this format.
    pub(super) fn is_of(self, text: &str) -> bool {
        match self {
            TextFormat::Date => is_date(text),
            TextFormat::DateTime => is_date_time(text, true),
            TextFormat::PartialDateTime => is_date_time(text, false),
            TextFormat::Uuid => is_uuid(text),
        }
    }

    /// What must stand there, as messages and prompts say it.
    pub(super) fn words(self) -> &'static str {
        match self {
            TextFormat::Date => "a date that exists, as YYYY-MM-DD",
            TextFormat::DateTime => {
                "a date and time with its offset, as YYYY-MM-DDThh:mm:ss and then Z, +hh:mm or \
                 -hh:mm"
            }
            TextFormat::PartialDateTime => {
                "a date and time as YYYY-MM-DDThh:mm:ss without an offset"
            }
            TextFormat::Uuid => "a UUID of 8-4-4-4-12 hex digits",
        }
    }
}

/// What a text of this format is, in words: a model copies an example, and it is
/// taken. `None`: the name says it.
pub(crate) fn format_in_words(format: &str) -> Option<&'static str> {
    Some(match format {
        "partial-time" => "a time of day as hh:mm:ss, with hours below 24 and without an offset",
        "zoned-date-time" => {
            "a date and time with offset and time zone, as YYYY-MM-DDThh:mm:ss+hh:mm[Area/City]"
        }
        "duration" => "a duration in ISO's form PnDTnHnMnS, with a number for each n",
        "uri" => "an absolute URL, with its scheme and host",
        "ip" => {
            "an IP address: four numbers with dots between them, or groups of hex digits with \
             colons"
        }
        "ipv4" => "an IPv4 address: four numbers with dots between them",
        "ipv6" => "an IPv6 address: groups of hex digits with colons between them",
        "email" => "an email address",
        format => return TextFormat::named(format).map(TextFormat::words),
    })
}

/// The pattern that schemars writes for numbers of any length.
pub(crate) fn pattern_in_words(pattern: &str) -> Option<&'static str> {
    (pattern == r"^-?\d+(\.\d+)?([eE]\d+)?$")
        .then_some("a decimal number in digits, with a point before its fraction")
}

/// The number that exactly so many digits are: `parse` would accept a sign.
fn number(text: &str, digits: usize) -> Option<u32> {
    let is_plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_plain {
        return None;
    }
    text.parse().ok()
}

/// A day that the calendar has, as `2024-02-29`.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let year = parts.next().and_then(|part| number(part, 4));
    let month = parts.next().and_then(|part| number(part, 2));
    let day = parts.next().and_then(|part| number(part, 2));
    let (Some(year), Some(month), Some(day)) = (year, month, day) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Accepts what the types do: a space for the `T`, no seconds, other forms of offsets.
fn is_date_time(text: &str, with_offset: bool) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else {
        return false;
    };
    let end = time.find(|c| !is_in_clock(c)).unwrap_or(time.len());
    let (clock, offset) = time.split_at(end);
    let has_right_offset = match offset.as_bytes() {
        [] => !with_offset,
        [b'Z' | b'z'] => with_offset,
        [b'+' | b'-', digits @ ..] => with_offset && is_offset(digits),
        _ => false,
    };
    is_date(date) && is_clock(clock) && has_right_offset
}

fn is_in_clock(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, ':' | '.')
}

/// `02`, `0200`, `02:00`.
fn is_offset(digits: &[u8]) -> bool {
    matches!(digits.len(), 2 | 4 | 5)
        && digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b':'))
}

/// `23:59`, `23:59:60`, `23:59:00.123`. A minute may have a leap second.
fn is_clock(text: &str) -> bool {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = clock.split(':');
    let has_hours = is_below(parts.next(), 24);
    let has_minutes = is_below(parts.next(), 60);
    let without_seconds = clock.len() == "23:59".len();
    let has_seconds = without_seconds || is_below(parts.next(), 61);
    if !has_hours || !has_minutes || !has_seconds || parts.next().is_some() {
        return false;
    }
    !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the part is two digits that are less than this.
fn is_below(part: Option<&str>, limit: u32) -> bool {
    match part.and_then(|part| number(part, 2)) {
        Some(value) => value < limit,
        None => false,
    }
}

/// With its hyphens or without any, and with what some programs write around it.
fn is_uuid(text: &str) -> bool {
    let bare = text.strip_prefix("urn:uuid:").unwrap_or(text);
    let in_braces = bare
        .strip_prefix('{')
        .and_then(|bare| bare.strip_suffix('}'));
    let bare = in_braces.unwrap_or(bare);
    let mut hyphens = Vec::new();
    for (at, _) in bare.match_indices('-') {
        hyphens.push(at);
    }
    let (length, is_placed) = if hyphens.is_empty() {
        (32, true)
    } else {
        (36, hyphens == [8, 13, 18, 23])
    };
    let is_hex = bare
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_placed && is_hex && bare.len() == length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_a_format_and_what_is_not() {
        for (format, good, bad) in [
            (
                "date",
                &["2024-12-31", "2024-02-29", "0001-01-01", "2000-02-29"][..],
                &[
                    "31.12.2024",
                    "2024-2-9",
                    "2023-02-29",
                    "1900-02-29",
                    "2024-13-01",
                    "2024-00-10",
                    "2024-01-00",
                    "soon",
                    "",
                    "2024-01-01T00:00:00",
                    "+024-01-01",
                    "2024-01-1é",
                ][..],
            ),
            (
                "date-time",
                &[
                    "2024-12-31T23:59:00Z",
                    "2024-12-31t23:59:60.123z",
                    "2024-12-31 23:59:00+02:00",
                    "2024-12-31T23:59-0330",
                ],
                &[
                    "2024-12-31",
                    "2024-12-31T23:59:00",
                    "2024-12-31T24:00:00Z",
                    "2024-12-31T23:60:00Z",
                    "2024-12-31T23:59:00.Z",
                    "2024-12-31T23Z",
                    "2024-12-31T23:59:00+2",
                    "T",
                    "tomorrow at noon",
                ],
            ),
            (
                "partial-date-time",
                &["2024-12-31T23:59:00", "2024-12-31 23:59"],
                &["2024-12-31T23:59:00Z", "2024-12-31T1:2"],
            ),
            (
                "uuid",
                &[
                    "67e55044-10b1-426f-9247-bb680e5fe0c8",
                    "67E5504410B1426F9247BB680E5FE0C8",
                    "{67e55044-10b1-426f-9247-bb680e5fe0c8}",
                ],
                &[
                    "67e55044",
                    "67e55044-10b1-426f-9247-bb680e5fe0cg",
                    "67e5504410-b1-426f-9247-bb680e5fe0c8",
                    "",
                ],
            ),
        ] {
            let format = TextFormat::named(format).unwrap();
            assert!(good.iter().all(|text| format.is_of(text)), "{format:?}");
            for text in bad {
                assert!(!format.is_of(text), "{format:?} {text:?}");
            }
            let told = format.words();
            assert!(
                !told.split([' ', ',']).any(|word| format.is_of(word)),
                "{told}"
            );
        }
        assert_eq!(TextFormat::named("email"), None);
    }
}
