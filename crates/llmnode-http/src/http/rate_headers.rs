//! What a provider says of its rate limits in the headers of an answer.
//!
//! OpenAI and those that follow it write
//! `x-ratelimit-{limit,remaining,reset}-{requests,tokens}`, with resets such as
//! `6m0s`; Anthropic
//! `anthropic-ratelimit-{requests,tokens}-{limit,remaining,reset}`, with times of
//! RFC 3339; others `x-ratelimit-{limit,remaining,reset}` alone, with seconds, or a
//! time since 1970 in seconds or milliseconds.
//!
//! Another spelling is added in [`rate_limits`]. `api/ask.rs` calls it for answers
//! only, and only if the sink wants it: a refusal speaks by `Retry-After`
//! (`retry_after.rs`). Its figures go by the sink to the attempt, and from there to
//! the gate of the endpoint (`Gate::limited`), which spaces requests by them before
//! anything is refused.

use std::time::{Duration, SystemTime};

use http::header::HeaderMap;
use llmnode_model::gate::{RateLimit, RateLimits};

use super::retry_after::rfc3339;
use super::wait_hint::duration;

/// A number of seconds that is larger is a time since 1970; one that is larger
/// still is in milliseconds.
const EPOCH_SECONDS: f64 = 1e8;
const EPOCH_MILLISECONDS: f64 = 1e11;

/// `None` of a kind whose figures are not there or cannot be read: nobody paces by
/// half a figure.
pub(crate) fn rate_limits(headers: &HeaderMap, is_providers: bool, now: SystemTime) -> RateLimits {
    RateLimits {
        requests: of_kind(headers, "requests", now).or_else(|| {
            read(
                &|figure: &str| text(headers, &format!("x-ratelimit-{figure}")),
                now,
            )
        }),
        tokens: of_kind(headers, "tokens", now),
        is_providers,
    }
}

/// OpenAI names the figure before the kind, Anthropic behind it.
fn of_kind(headers: &HeaderMap, kind: &str, now: SystemTime) -> Option<RateLimit> {
    let as_openai = read(
        &|figure: &str| text(headers, &format!("x-ratelimit-{figure}-{kind}")),
        now,
    );
    as_openai.or_else(|| {
        read(
            &|figure: &str| text(headers, &format!("anthropic-ratelimit-{kind}-{figure}")),
            now,
        )
    })
}

/// `figure`: finds the value of one of the three headers.
fn read<'h>(figure: &impl Fn(&str) -> Option<&'h str>, now: SystemTime) -> Option<RateLimit> {
    let remaining = figure("remaining")?.trim().parse().ok()?;
    let limit = figure("limit").and_then(|limit| limit.trim().parse().ok());
    Some(RateLimit {
        limit,
        remaining,
        reset: reset(figure("reset")?, now)?,
    })
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// How long it is until a time since 1970; none if it has passed.
fn until(since_epoch: Duration, now: SystemTime) -> Option<Duration> {
    let time = SystemTime::UNIX_EPOCH.checked_add(since_epoch)?;
    time.duration_since(now).ok()
}

/// A number, a duration in words, or a time.
fn reset(text: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(number) = text.trim().parse::<f64>() {
        return match number {
            number if number >= EPOCH_MILLISECONDS => {
                until(Duration::try_from_secs_f64(number / 1000.0).ok()?, now)
            }
            number if number >= EPOCH_SECONDS => {
                until(Duration::try_from_secs_f64(number).ok()?, now)
            }
            number => Duration::try_from_secs_f64(number).ok(),
        };
    }
    duration(&text.to_ascii_lowercase()).or_else(|| rfc3339(text)?.duration_since(now).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT
    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)
    }

    fn of(headers: &[(&'static str, &str)]) -> RateLimits {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        rate_limits(&headers, true, now())
    }

    #[test]
    fn every_form_of_limits() {
        let openai = of(&[
            ("x-ratelimit-limit-requests", "500"),
            ("x-ratelimit-remaining-requests", "499"),
            ("x-ratelimit-reset-requests", "120ms"),
            ("x-ratelimit-limit-tokens", "30000"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ]);
        let requests = openai.requests.unwrap();
        assert_eq!((requests.limit, requests.remaining), (Some(500), 499));
        assert_eq!(requests.reset, Duration::from_millis(120));
        let tokens = openai.tokens.unwrap();
        assert_eq!(
            (tokens.remaining, tokens.reset),
            (0, Duration::from_secs(360))
        );
        let anthropic = of(&[
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "3"),
            ("anthropic-ratelimit-requests-reset", "1994-11-06T08:50:07Z"),
        ]);
        assert_eq!(anthropic.requests.unwrap().reset, Duration::from_secs(30));
        for (reset, seconds) in [("20", 20), ("784111787", 10), ("784111787000", 10)] {
            let plain = of(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset)]);
            assert_eq!(
                plain.requests.unwrap().reset,
                Duration::from_secs(seconds),
                "{reset}"
            );
        }
    }

    #[test]
    fn what_says_nothing() {
        for headers in [
            &[("x-ratelimit-remaining-requests", "3")][..],
            &[
                ("x-ratelimit-remaining-requests", "many"),
                ("x-ratelimit-reset-requests", "1s"),
            ],
            &[("x-ratelimit-remaining", "3"), ("x-ratelimit-reset", "-1")],
            &[
                ("x-ratelimit-remaining", "3"),
                ("x-ratelimit-reset", "1994-11-06T08:49:07Z"),
            ],
            &[
                ("x-ratelimit-remaining", "3"),
                ("x-ratelimit-reset", "soon"),
            ],
        ] {
            let limits = of(headers);
            assert!(
                limits.requests.is_none() && limits.tokens.is_none(),
                "{headers:?}"
            );
        }
    }
}
