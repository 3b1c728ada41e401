//! Ids of records, spans, log events and requests, so that one can be found from another.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The id of a call, such as `9f86d081884c7d65-12`: random for the run and its
/// clones, counted from 1 within it.
///
/// Unique within a process, and as good as unique across processes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId {
    run: u64,
    call: u64,
}

/// The id of an attempt, such as `9f86d081884c7d65-12-0`: that of its call, and how
/// many attempts the call began before it.
///
/// It is sent with the request
/// ([`Request::correlation`](crate::Request::correlation)), so that a provider can
/// find a request whose response was lost.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttemptId {
    call: CallId,
    index: u32,
}

/// Counts the calls of one run.
pub struct Ids {
    run: u64,
    calls: u64,
}

impl Ids {
    /// Whether the id is one of this run.
    pub fn issued(&self, call: CallId) -> bool {
        call.run == self.run
    }

    /// The id of the next call.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> CallId {
        self.calls = self.calls.wrapping_add(1);
        CallId {
            run: self.run,
            call: self.calls,
        }
    }
}

impl Default for Ids {
    fn default() -> Self {
        // The seeds of the standard library's hash maps are random each time.
        Ids {
            run: RandomState::new().hash_one(0_u8),
            calls: 0,
        }
    }
}

impl CallId {
    /// Returns the id of the attempt that was begun after this many others.
    pub fn attempt(self, index: u32) -> AttemptId {
        AttemptId { call: self, index }
    }

    fn parse(text: &str) -> Option<CallId> {
        let (run, call) = text.split_once('-')?;
        let run = (run.len() == 16)
            .then_some(run)
            .filter(|run| run.bytes().all(|b| b.is_ascii_hexdigit()))?;
        Some(CallId {
            run: u64::from_str_radix(run, 16).ok()?,
            call: number(call)?,
        })
    }
}

impl AttemptId {
    /// Returns the call of the attempt.
    pub fn call(&self) -> CallId {
        self.call
    }

    /// Returns how many attempts the call began before.
    pub fn index(&self) -> u32 {
        self.index
    }

    fn parse(text: &str) -> Option<AttemptId> {
        let (call, index) = text.rsplit_once('-')?;
        Some(AttemptId {
            call: CallId::parse(call)?,
            index: number(index)?,
        })
    }
}

/// Only digits: `parse` would accept a sign.
fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| text.parse().ok())?
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.run, self.call)
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.call, self.index)
    }
}

macro_rules! written_as_text {
    ($($id:ty, $example:literal;)*) => {$(
        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $id {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $id {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = String::deserialize(from)?;
                <$id>::parse(&text).ok_or_else(|| {
                    de::Error::invalid_value(de::Unexpected::Str(&text), &$example)
                })
            }
        }
    )*};
}
written_as_text! {
    CallId, "an id such as 9f86d081884c7d65-12";
    AttemptId, "an id such as 9f86d081884c7d65-12-0";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_count_within_a_run_and_differ_between_runs() {
        let (mut one, mut other) = (Ids::default(), Ids::default());
        let (first, second) = (one.next(), one.next());
        assert_eq!((first.run, first.call, second.call), (second.run, 1, 2));
        assert_ne!(first, other.next());
    }

    #[test]
    fn what_is_written_is_read() {
        let id = CallId { run: 0xab, call: 7 }.attempt(3);
        assert_eq!(id.to_string(), "00000000000000ab-7-3");
        let json = serde_json::to_string(&(id.call(), id)).unwrap();
        assert_eq!(
            serde_json::from_str::<(CallId, AttemptId)>(&json).unwrap(),
            (id.call(), id)
        );
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in [
            "",
            "-",
            "ab-7",
            "00000000000000ab",
            "00000000000000ab-",
            "00000000000000ab-+7",
        ] {
            assert_eq!(CallId::parse(text), None, "{text}");
            assert_eq!(AttemptId::parse(&format!("{text}-0")), None, "{text}-0");
        }
        assert_eq!(CallId::parse("+0000000000000ab-7"), None);
        assert_eq!(AttemptId::parse("00000000000000ab-7"), None);
        let error = serde_json::from_str::<CallId>("\"x\"")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("expected an id such as 9f86d081884c7d65-12"),
            "{error}"
        );
    }
}
