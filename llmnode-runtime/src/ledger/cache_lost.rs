//! Whether a request has read back what the request before it had left in the
//! provider's cache, and if not, who broke it.
//!
//! In: the parts of both requests by their hashes, what the provider counted, and
//! the time between them. Out: [`CacheLost`]. What differs is named whatever the
//! provider says; what it read is believed; and where nobody can know, it says so.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use llmnode_model::TokenUsage;
use llmnode_model::ext::{PromptChange, PromptParts, SentPrompt};
use serde::{Deserialize, Serialize};

use super::milliseconds;

/// What became of the part of a prompt that the provider had in its cache:
/// [`AttemptRecord::cache_lost`].
///
/// It compares a request with the one before it in the same conversation: the turns
/// of an agent, corrections, the calls that have a history, also after a pause. An
/// agent whose cache is lost in each turn pays for its whole conversation each
/// time.
///
/// [`AttemptRecord::cache_lost`]: crate::AttemptRecord::cache_lost
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::CacheLost;
///
/// let lost = CacheLost::Changed { part: "the description of `search`".to_owned() };
/// assert_eq!(lost.to_string(), "changed: the description of `search`");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheLost {
    /// Nobody knows: it is the first request of its conversation, there is no
    /// record of the one before it (as after a restart), the prompt is too short to
    /// be kept, or the provider does not say what it read.
    #[default]
    Unknown,
    /// The request begins as the one before it, and the provider read what it had.
    Kept,
    /// The request does not begin as the one before it.
    Changed {
        /// The first part that is another one, such as "the description of
        /// `search`", "the system text", or "message 3".
        part: String,
    },
    /// The conversation was [compacted](crate::Compact), so it does not begin as it did.
    Compacted,
    /// The request begins as the one before it, which was too long ago.
    Expired {
        /// The time between them.
        #[serde(rename = "idle_ms", with = "milliseconds")]
        idle: Duration,
        /// How long the provider keeps a prompt, at least.
        #[serde(rename = "ttl_ms", with = "milliseconds")]
        ttl: Duration,
    },
    /// The request begins as the one before it, and the provider read nothing all the same.
    Evicted,
}

impl CacheLost {
    /// Returns its name, such as `"changed"`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            CacheLost::Unknown => "unknown",
            CacheLost::Kept => "kept",
            CacheLost::Changed { .. } => "changed",
            CacheLost::Compacted => "compacted",
            CacheLost::Expired { .. } => "expired",
            CacheLost::Evicted => "evicted",
        }
    }

    /// Returns whether something was lost.
    pub const fn is_lost(&self) -> bool {
        matches!(
            self,
            CacheLost::Changed { .. }
                | CacheLost::Compacted
                | CacheLost::Expired { .. }
                | CacheLost::Evicted
        )
    }

    pub(crate) fn is_unknown(&self) -> bool {
        *self == CacheLost::Unknown
    }

    /// The first loss; otherwise whether anything was kept.
    pub(super) fn of_all<'a>(all: impl Iterator<Item = &'a CacheLost>) -> CacheLost {
        let mut of_all = CacheLost::Unknown;
        for one in all {
            if one.is_lost() {
                return one.clone();
            }
            if !one.is_unknown() {
                of_all = one.clone();
            }
        }
        of_all
    }
}

impl fmt::Display for CacheLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        match self {
            CacheLost::Changed { part } => write!(f, ": {part}"),
            CacheLost::Expired { idle, ttl } => {
                write!(f, ": after {idle:.0?}, where it is kept for {ttl:.0?}")
            }
            _ => Ok(()),
        }
    }
}

/// A request whose answer has come, beside the one before it.
pub(crate) struct Compared<'a> {
    pub(crate) before: Option<&'a SentPrompt>,
    pub(crate) parts: &'a PromptParts,
    pub(crate) usage: TokenUsage,
    pub(crate) now: SystemTime,
    pub(crate) is_correction: bool,
    /// The conversation was compacted since the request before it.
    pub(crate) is_compacted: bool,
}

impl Compared<'_> {
    pub(crate) fn lost(&self) -> CacheLost {
        let Some(before) = self.before else {
            return CacheLost::Unknown;
        };
        if let Some(change) = before.parts.first_change(self.parts) {
            if self.is_compacted && matches!(change, PromptChange::Message(_)) {
                return CacheLost::Compacted;
            }
            return CacheLost::Changed {
                part: self.named(&change),
            };
        }
        match self.usage.cached {
            None => CacheLost::Unknown,
            Some(1..) => CacheLost::Kept,
            Some(0) => self.why_nothing_was_read(before),
        }
    }

    fn named(&self, change: &PromptChange) -> String {
        match change {
            // A correction repeats the newest rounds alone.
            PromptChange::Message(number) if self.is_correction => {
                format!("message {number}: an older round of feedback is left out")
            }
            change => change.to_string(),
        }
    }

    fn why_nothing_was_read(&self, before: &SentPrompt) -> CacheLost {
        let was_kept = before.kept.unwrap_or(before.ttl.is_some());
        if !was_kept {
            return CacheLost::Unknown;
        }
        let idle = Duration::from_millis(unix_ms(self.now).saturating_sub(before.at));
        match before.ttl.map(Duration::from_millis) {
            Some(ttl) if idle > ttl => CacheLost::Expired { idle, ttl },
            _ => CacheLost::Evicted,
        }
    }
}

/// What the next request is compared with.
pub(crate) fn sent_prompt(
    parts: PromptParts,
    ttl: Option<Duration>,
    usage: TokenUsage,
    now: SystemTime,
) -> SentPrompt {
    let counted = [usage.cached, usage.cache_write];
    let kept = if counted.iter().flatten().any(|tokens| *tokens > 0) {
        Some(true)
    } else if counted.iter().all(Option::is_some) {
        Some(false)
    } else {
        None
    };
    SentPrompt {
        parts,
        at: unix_ms(now),
        ttl: ttl.map(milliseconds::whole),
        kept,
    }
}

fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    milliseconds::whole(since)
}

#[cfg(test)]
mod tests {
    use llmnode_model::ApiKind;

    use super::*;

    fn parts(message: u32) -> PromptParts {
        PromptParts {
            api: ApiKind::Anthropic,
            model: "m".to_owned(),
            settings: 0,
            tools: Vec::new(),
            format: 0,
            system: 0,
            messages: vec![message],
            numbers: vec![1],
            frame: None,
        }
    }

    fn usage(cached: Option<u64>, cache_write: Option<u64>) -> TokenUsage {
        let mut usage = TokenUsage::new(2_000, 10);
        usage.cached = cached;
        usage.cache_write = cache_write;
        usage
    }

    fn lost(before: TokenUsage, after: TokenUsage, idle: u64, message: u32) -> CacheLost {
        let ttl = Some(Duration::from_secs(300));
        let before = sent_prompt(parts(1), ttl, before, UNIX_EPOCH);
        let compared = Compared {
            before: Some(&before),
            parts: &parts(message),
            usage: after,
            now: UNIX_EPOCH + Duration::from_secs(idle),
            is_correction: false,
            is_compacted: false,
        };
        compared.lost()
    }

    #[test]
    fn what_differs_is_named_and_what_was_read_is_believed() {
        let written = usage(Some(0), Some(2_000));
        let nothing = usage(Some(0), Some(0));
        assert_eq!(
            lost(written, usage(Some(1_900), None), 1, 1),
            CacheLost::Kept
        );
        let changed = lost(written, usage(Some(1_900), None), 1, 2);
        assert_eq!(changed.to_string(), "changed: message 1");
        assert_eq!(lost(written, nothing, 1, 1), CacheLost::Evicted);
        let expired = lost(written, nothing, 301, 1);
        assert_eq!(
            expired.to_string(),
            "expired: after 301s, where it is kept for 300s"
        );
        // Too short for this provider: nothing was there to be lost.
        assert_eq!(lost(nothing, nothing, 1, 1), CacheLost::Unknown);
        assert_eq!(lost(written, usage(None, None), 1, 1), CacheLost::Unknown);
    }
}
