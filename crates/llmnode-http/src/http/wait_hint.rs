//! The wait that a server asks for in the text of its error, if no header and no field has it.
//!
//! Numbers in an error mostly are limits, not waits. So a number counts only behind a phrase that announces a wait, and only with a
//! unit. A text may name the waits of several limits; a request that comes before the longest one is refused again.

use std::time::Duration;

/// Other numbers are not waits.
const PHRASES: &[&str] = &[
    "try again in",    // OpenAI, Groq, LiteLLM, Azure's gateways
    "try again after", // Azure's gateways
    "retry after",     // Azure
    "retry in",        // Gemini
    "please wait",     // GitHub
];

/// By all the names that they have in texts.
const UNITS: &[(&[&str], f64)] = &[
    (&["ms", "millisecond", "milliseconds"], 1e-3),
    (&["s", "sec", "secs", "second", "seconds"], 1.0),
    (&["m", "min", "mins", "minute", "minutes"], 60.0),
    (&["h", "hr", "hrs", "hour", "hours"], 3600.0),
    (&["d", "day", "days"], 86_400.0),
];

/// The longest, since a text may name several limits.
pub(crate) fn wait_hint(text: &str) -> Option<Duration> {
    let text = text.to_ascii_lowercase();
    let found = PHRASES.iter().flat_map(|phrase| text.match_indices(phrase));
    found
        .filter_map(|(at, phrase)| duration(&text[at + phrase.len()..]))
        .max()
}

/// Such as `6m0s` or `20ms`, in lower case.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let mut sum = Duration::ZERO;
    let mut rest = text;
    while let Some((part, behind)) = part(rest) {
        sum = sum.saturating_add(part);
        rest = behind;
    }
    Some(sum).filter(|sum| !sum.is_zero())
}

/// A number with its unit.
fn part(text: &str) -> Option<(Duration, &str)> {
    let (number, text) = split(text, |c| c.is_ascii_digit() || c == '.');
    let (unit, behind) = split(text, |c| c.is_ascii_alphabetic());
    let (_, seconds) = UNITS.iter().find(|(names, _)| names.contains(&unit))?;
    let seconds = number.parse::<f64>().ok()? * seconds;
    Some((
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
        behind,
    ))
}

/// What begins the text of these characters, and the rest.
fn split(text: &str, kind: impl Fn(char) -> bool) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(|c| !kind(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_providers_write() {
        for (text, ms) in [
            (
                "Rate limit reached for m in org x on tokens per min (TPM): Limit 30000, Used \
              29000, Requested 2000. Please try again in 20s. Visit the page",
                20_000,
            ),
            ("Limit: 3 / min. Please try again in 6m0s.", 360_000),
            ("Please try again in 120ms.", 120),
            (
                "on tokens per day (TPD): Limit 100000. Please try again in 2m59.56s. Need more \
                 tokens?",
                179_560,
            ),
            ("please try again in 1h2m3s", 3_723_000),
            (
                "have exceeded token rate limit of your tier. Please retry after 26 seconds. \
                 Please go here",
                26_000,
            ),
            (
                "Requests have exceeded call rate limit. Please retry after 1 second.",
                1000,
            ),
            ("Rate limit is exceeded. Try again in 19 seconds.", 19_000),
            (
                "You exceeded your quota.\n* Quota exceeded for metric: x, limit: 10\nPlease retry \
                 in 43.287s.",
                43_287,
            ),
            (
                "Rate limit of 15 per 60s exceeded. Please wait 38 seconds before retrying.",
                38_000,
            ),
            (
                "No deployments available for selected model, Try again in 60 seconds. Passed \
                 model=m",
                60_000,
            ),
            ("PLEASE TRY AGAIN IN 1 Day", 86_400_000),
            ("try again in 0m30s", 30_000),
            ("retry in 1 minute 30 seconds", 90_000),
            (
                "upstream: try again in 5s; router: try again in 7s, or try again in 6s",
                7000,
            ),
        ] {
            assert_eq!(wait_hint(text), Some(Duration::from_millis(ms)), "{text}");
        }
    }

    #[test]
    fn what_is_no_wait() {
        for text in [
            "",
            "429",
            "limit 20s reached",
            "please try again later",
            "please try again in a few minutes",
            "please try again in 20",
            "please try again in 20 apples",
            "please try again in 20sheep",
            "please try again in s",
            "please try again in .s",
            "please try again in 1.2.3s",
            "please try again in -5s",
            "please try again in 0s",
            "retry after 2026-01-01",
            "retry in",
        ] {
            assert_eq!(wait_hint(text), None, "{text}");
        }
    }

    #[test]
    fn absurd_waits_are_the_longest() {
        for number in ["9".repeat(30), "9".repeat(500)] {
            assert_eq!(
                wait_hint(&format!("try again in {number} days 5s")),
                Some(Duration::MAX)
            );
        }
    }
}
