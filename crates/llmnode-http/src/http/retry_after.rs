//! How long a server asks to wait before the next request.
//!
//! Only read here; whether and how long is waited, the runtime decides.
//! `retry-after-ms` is OpenAI's and more exact, so it goes first; `retry-after` is
//! seconds or a date.

use std::time::{Duration, SystemTime};

use http::header::HeaderMap;
use serde_json::Value;

/// LiteLLM renames the headers of the provider behind it.
const PREFIXES: [&str; 2] = ["", "llm_provider-"];

/// The longest if repeated; ignores zero, negative, past and unreadable ones.
/// `x-ratelimit-reset-*` says when a limit is fully restored, not when the next
/// request may come.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    for prefix in PREFIXES {
        let name = format!("{prefix}retry-after-ms");
        let in_milliseconds = longest(headers, &name, |value| seconds(value, 1e-3));
        if in_milliseconds.is_some() {
            return in_milliseconds;
        }
        let name = format!("{prefix}retry-after");
        let in_seconds = longest(headers, &name, |value| {
            seconds(value, 1.0).or_else(|| until_date(value, now))
        });
        if in_seconds.is_some() {
            return in_seconds;
        }
    }
    None
}

/// Of a header that stands there several times.
fn longest(
    headers: &HeaderMap,
    name: &str,
    wait: impl Fn(&str) -> Option<Duration>,
) -> Option<Duration> {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| wait(value.to_str().ok()?))
        .max()
}

fn until_date(value: &str, now: SystemTime) -> Option<Duration> {
    let date = http_date(value)?;
    let wait = date.duration_since(now).ok()?;
    if wait.is_zero() {
        return None;
    }
    Some(wait)
}

/// A header of OpenAI's and Anthropic's, by which a server says whether to try
/// again.
pub(crate) fn should_retry(headers: &HeaderMap) -> Option<bool> {
    PREFIXES.iter().find_map(|prefix| {
        let value = headers.get(format!("{prefix}x-should-retry"))?;
        let word = value.to_str().ok()?;
        let word = word.trim().to_ascii_lowercase();
        word.parse().ok()
    })
}

/// As a number or a text.
pub(crate) fn number_of_seconds(value: &Value) -> Option<Duration> {
    match value {
        Value::Number(number) => seconds(&number.to_string(), 1.0),
        Value::String(text) => seconds(text, 1.0),
        _ => None,
    }
}

/// Such as `14s` or `0.5s`, the JSON form of a protobuf duration.
pub(crate) fn protobuf_duration(text: &str) -> Option<Duration> {
    seconds(text.strip_suffix('s')?, 1.0)
}

/// In units of so many seconds.
fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.trim().parse().ok()?;
    let seconds = number * unit;
    if !seconds.is_finite() || seconds <= 0.0 {
        return None;
    }
    // `from_secs_f64` panics on values that a header may have.
    let wait = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    if wait.is_zero() {
        return None;
    }
    Some(wait)
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, or one of the two older forms that recipients
/// must accept (RFC 9110, 5.6.7).
fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let parts: Vec<&str> = text
        .split([' ', ',', '-'])
        .filter(|part| !part.is_empty())
        .collect();
    let (day, name, year, time) = match parts[..] {
        [_, day, month, year, time, "GMT"] => (day, month, year, time),
        [_, month, day, time, year] => (day, month, year, time),
        _ => return None,
    };
    let day: u64 = day.parse().ok()?;
    let month = MONTHS.iter().position(|month| *month == name)? as u64 + 1;
    let year: u64 = year.parse().ok()?;
    // Two-digit years are in the near past or future.
    let year = match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    };
    if !(1..=31).contains(&day) || !(1970..=9999).contains(&year) {
        return None;
    }
    let mut clock = time.split(':').map(|part| part.parse::<u64>().ok());
    let hour = clock.next()??;
    let minute = clock.next()??;
    let second = clock.next()??;
    if clock.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_since_epoch(year, month, day);
    utc(days, hour, minute, second)
}

/// A time of UTC. `None`: later than the system can count.
fn utc(days: u64, hour: u64, minute: u64, second: u64) -> Option<SystemTime> {
    let minutes = hour * 60 + minute;
    let seconds = days * 86_400 + minutes * 60 + second;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Such as `1994-11-06T08:49:37Z`: a time of UTC, whose fractions of a second are left out.
pub(crate) fn rfc3339(text: &str) -> Option<SystemTime> {
    let text = text.trim();
    let of_utc = text
        .strip_suffix('Z')
        .or_else(|| text.strip_suffix("+00:00"))?;
    let (date, time) = of_utc.split_once('T')?;
    let mut date = date.split('-').map(|part| part.parse::<u64>().ok());
    let year = date.next()??;
    let month = date.next()??;
    let day = date.next()??;
    let whole_seconds = time.split('.').next()?;
    let mut clock = whole_seconds
        .split(':')
        .map(|part| part.parse::<u64>().ok());
    let hour = clock.next()??;
    let minute = clock.next()??;
    let second = clock.next()??;
    let is_day = (1..=12).contains(&month) && (1..=31).contains(&day);
    let is_date = (1970..=9999).contains(&year) && is_day;
    let is_time = hour < 24 && minute < 60 && second <= 60;
    if !is_date || !is_time {
        return None;
    }
    let days = days_since_epoch(year, month, day);
    utc(days, hour, minute, second)
}

/// Counts years from March, so that the leap day comes last.
fn days_since_epoch(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT
    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)
    }

    #[test]
    fn times_are_read_to_the_second() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2024-08-20T18:37:24.100435Z", 1_724_179_044),
            ("2024-02-29T00:00:01+00:00", 1_709_164_801),
            ("2027-12-31T23:59:59Z", 1_830_297_599),
        ] {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(rfc3339(text), Some(time), "{text}");
        }
        assert_eq!(rfc3339("yesterday"), None);
    }

    fn wait(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        retry_after(&headers, now())
    }

    #[test]
    fn every_form_of_wait() {
        let ms = |ms| Some(Duration::from_millis(ms));
        for (headers, expected) in [
            (&[("retry-after", "20")][..], ms(20_000)),
            (&[("retry-after", " 1.5 ")], ms(1500)),
            (&[("retry-after-ms", "644"), ("retry-after", "1")], ms(644)),
            (
                &[("retry-after-ms", "soon"), ("retry-after", "1")],
                ms(1000),
            ),
            (&[("llm_provider-retry-after", "7")], ms(7000)),
            (
                &[("llm_provider-retry-after-ms", "12.5")],
                Some(Duration::from_micros(12_500)),
            ),
            (
                &[("retry-after", "1"), ("llm_provider-retry-after", "9")],
                ms(1000),
            ),
            (
                &[("retry-after", "Sun, 06 Nov 1994 08:49:42 GMT")],
                ms(5000),
            ),
            (
                &[("retry-after", "Sunday, 06-Nov-94 08:49:42 GMT")],
                ms(5000),
            ),
            (&[("retry-after", "Sun Nov  6 08:49:42 1994")], ms(5000)),
            (
                &[("retry-after", "Tue, 06 Dec 1994 08:49:37 GMT")],
                ms(30 * 86_400_000),
            ),
            (&[("retry-after", "86400")], ms(86_400_000)),
            (
                &[
                    ("retry-after", "5"),
                    ("retry-after", "30"),
                    ("retry-after", "soon"),
                ],
                ms(30_000),
            ),
            (
                &[
                    ("retry-after", "1"),
                    ("retry-after", "Sun, 06 Nov 1994 08:49:42 GMT"),
                ],
                ms(5000),
            ),
            (
                &[("retry-after-ms", "70"), ("retry-after-ms", "644")],
                ms(644),
            ),
            (&[("retry-after", "1e300")], Some(Duration::MAX)),
            (
                &[("retry-after", "18446744073709551616")],
                Some(Duration::MAX),
            ),
        ] {
            assert_eq!(wait(headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn what_asks_for_nothing() {
        for value in [
            "0",
            "-1",
            "NaN",
            "inf",
            "-inf",
            "1e999",
            "1e-300",
            "",
            "soon",
            "Sun, 06 Nov 1994 08:49:36 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 99 Nov 9999 08:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 99:49:37 GMT",
            "Sun, 06 Nov 18446744073709551615 08:49:37 GMT",
            ", GMT",
        ] {
            assert_eq!(wait(&[("retry-after", value)]), None, "{value:?}");
        }
    }

    #[test]
    fn the_servers_own_word_on_retries() {
        for (name, value, said) in [
            ("x-should-retry", "true", Some(true)),
            ("x-should-retry", " False ", Some(false)),
            ("llm_provider-x-should-retry", "false", Some(false)),
            ("x-should-retry", "perhaps", None),
            ("x-should", "true", None),
        ] {
            let headers = [(name.parse().unwrap(), value.parse().unwrap())]
                .into_iter()
                .collect();
            assert_eq!(should_retry(&headers), said, "{name}: {value}");
        }
    }

    #[test]
    fn times_of_day() {
        let at = |time| http_date(&format!("Sun, 06 Nov 1994 {time} GMT"));
        for time in ["23:00:00", "00:59:00", "00:00:59", "23:59:60"] {
            assert!(at(time).is_some(), "{time}");
        }
        for time in [
            "24:00:00",
            "00:60:00",
            "00:00:61",
            "00:00",
            "00:00:00:00",
            "0x:00:00",
        ] {
            assert!(at(time).is_none(), "{time}");
        }
    }

    #[test]
    fn years_of_two_digits() {
        let date = |year| http_date(&format!("Sunday, 06-Nov-{year} 08:49:37 GMT"));
        assert_eq!(date("94"), Some(now()));
        assert_eq!(date("69"), http_date("Wed, 06 Nov 2069 08:49:37 GMT"));
        assert_eq!(date("70"), http_date("Fri, 06 Nov 1970 08:49:37 GMT"));
        assert!(date("99").is_some() && date("100").is_none());
    }

    #[test]
    fn days() {
        assert_eq!(days_since_epoch(1970, 1, 1), 0);
        assert_eq!(days_since_epoch(2000, 2, 29), 11_016);
        assert_eq!(days_since_epoch(2000, 3, 1), 11_017);
    }

    #[test]
    fn protobuf_durations() {
        assert_eq!(protobuf_duration("14s"), Some(Duration::from_secs(14)));
        assert_eq!(protobuf_duration("0.25s"), Some(Duration::from_millis(250)));
        assert_eq!(protobuf_duration("s"), None);
        assert_eq!(protobuf_duration("-3s"), None);
    }
}
