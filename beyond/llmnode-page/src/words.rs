//! Figures in words. What is unknown is said, and is not 0.
//!
//! Here and not where they are used, so that all parts of a page say a cost or a time alike.

use std::time::Duration;

use llmnode_runtime::{AttemptKind, Tokens, Usage};

pub(crate) fn time(elapsed: Duration) -> String {
    // A recording's file has microseconds: its page is the same.
    let micros = elapsed.as_micros();
    let ms = micros / 1_000;
    match ms {
        0..10 if micros > 0 => format!("{:.2} ms", micros as f64 / 1e3),
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.2} s", micros as f64 / 1e6),
        _ => format!("{} min {:02} s", ms / 60_000, ms / 1_000 % 60),
    }
}

pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

pub(crate) fn count(count: u64, one: &str) -> String {
    format!(
        "{} {one}{}",
        number(count),
        if count == 1 { "" } else { "s" }
    )
}

pub(crate) fn optional(tokens: Option<u64>) -> String {
    tokens.map_or("?".to_owned(), number)
}

pub(crate) fn tokens(tokens: &Tokens) -> String {
    match (tokens.known, tokens.unreported_calls) {
        (0, 0) => "no tokens".to_owned(),
        (0, _) => "tokens unknown".to_owned(),
        (reported, 0) => count(reported, "token"),
        (reported, _) => format!("{} + ? tokens", number(reported)),
    }
}

pub(crate) fn money(cost: f64) -> String {
    if cost == 0.0 {
        "0".to_owned()
    } else if cost < 0.01 {
        format!("{cost:.6}")
    } else {
        format!("{cost:.4}")
    }
}

/// The cost, and what is unknown about it.
pub(crate) fn cost(usage: &Usage) -> (String, Option<&'static str>) {
    match (usage.cost.total(), usage.cost.known()) {
        (Some(cost), _) => (money(cost), None),
        (None, 0.0) => ("unknown".to_owned(), None),
        (None, at_least) => (money(at_least), Some("at least; not all is known")),
    }
}

pub(crate) fn kind(kind: AttemptKind) -> &'static str {
    match kind {
        AttemptKind::First => "Request",
        AttemptKind::Correction => "Correction",
        AttemptKind::Retry => "Retry",
        AttemptKind::Adapted => "Adapted request",
        AttemptKind::FallbackModel => "Fallback model",
        AttemptKind::Turn => "Turn",
        _ => "Attempt",
    }
}

/// Cuts a text to at most so many characters, with a sign that there was more.
///
/// For titles and rows of tables, where the whole text is one click away.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text
            .chars()
            .take(most.saturating_sub(1))
            .chain(['…'])
            .collect(),
    }
}

/// By the calendar of Gregory: <https://howardhinnant.github.io/date_algorithms.html>.
pub(crate) fn utc(unix_ms: u64) -> String {
    let days = unix_ms / 86_400_000;
    let seconds = unix_ms / 1000 % 86_400;
    let since_march = days + 719_468;
    let era = since_march / 146_097;
    let day_of_era = since_march % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = (shifted + 2) % 12 + 1;
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let hour = seconds / 3600;
    let minute = seconds / 60 % 60;
    let second = seconds % 60;
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_764_239_400, "2025-11-27 10:30:00 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(utc(seconds * 1000), day);
        }
    }

    fn words_of(known: u64, unreported_calls: u64) -> String {
        let json = serde_json::json!({"known": known, "unreported_calls": unreported_calls});
        tokens(&serde_json::from_value(json).unwrap())
    }

    #[test]
    fn unknown_is_not_zero() {
        assert_eq!(words_of(0, 0), "no tokens");
        assert_eq!(words_of(0, 2), "tokens unknown");
        assert_eq!(words_of(1_234, 0), "1\u{202f}234 tokens");
        assert_eq!(words_of(7, 1), "7 + ? tokens");
    }

    #[test]
    fn names_are_cut_between_characters() {
        assert_eq!(
            (cut("häuser", 6).as_str(), cut("häuser", 3).as_str()),
            ("häuser", "hä…")
        );
    }
}
