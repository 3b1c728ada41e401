//! What an error says: all attempts on a few lines, or the last failure on one.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use llmnode_model::Category;
use llmnode_reader::text::visible;
use llmnode_reader::text::{one_line, plural, same_name};

use super::{Inner, NodeError};
use crate::ledger::{AttemptKind, AttemptRecord, CallRecord, FailedTry};

impl NodeError {
    /// Only what the program has to fix is shown in full; other messages may quote external text.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        match self.0.category {
            Category::ConfigError => Cow::Borrowed(&self.0.message),
            _ => Cow::Owned(one_line(&self.0.message, 1000)),
        }
    }

    fn write_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            node,
            items,
            position,
            ..
        } = &*self.0;
        let step = position.as_ref().filter(|position| !position.is_start());
        let says_both = step
            .and_then(|step| step.labels().last())
            .is_some_and(|label| same_name(label, node));
        let node = Some(&**node).filter(|node| !node.is_empty() && !says_both);
        let place = step.map(|step| one_line(step.to_string(), 300));
        let items: Vec<_> = items.iter().rev().map(usize::to_string).collect();
        let item = (!items.is_empty()).then(|| format!("item {}", items.join("/")));
        let mut place = place.into_iter().chain(node.map(str::to_owned)).chain(item);
        let Some(outermost) = place.next() else {
            return Ok(());
        };
        f.write_str(&outermost)?;
        let rest: Vec<_> = place.collect();
        if rest.is_empty() {
            f.write_str(": ")
        } else {
            write!(f, " ({}): ", rest.join(", "))
        }
    }
}

/// What a person would not see, or see in another place than it is, is written out: much of it comes from outside.
impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_short = f.alternate();
        let text = if is_short {
            format!("{:#}", AsWritten(self))
        } else {
            AsWritten(self).to_string()
        };
        f.write_str(&visible(&text))
    }
}

struct AsWritten<'e>(&'e NodeError);

impl fmt::Display for AsWritten<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AsWritten(error) = self;
        error.write(f)
    }
}

impl NodeError {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            category, message, ..
        } = &*self.0;
        self.write_place(f)?;
        write!(f, "{category}")?;
        let attempts = self.attempts();
        if attempts.is_empty()
            && let [.., last] = self.failed_tries()
        {
            return write_tries(last, self.failed_tries(), message, f);
        }
        // A single attempt that failed like the call adds nothing.
        if matches!(attempts, []) || matches!(attempts, [only] if only.category == Some(*category))
        {
            return write!(f, ": {}", self.shown());
        }
        let what = if attempts.iter().any(|attempt| attempt.unsent) {
            "attempt"
        } else {
            "request"
        };
        let requests = plural(attempts.len() as u64, what);
        write!(f, " after {requests}: {}", one_line(message, 1000))?;
        if f.alternate() {
            return Ok(());
        }
        write_attempts(attempts, f)?;
        let tokens = self
            .0
            .record
            .as_deref()
            .map(CallRecord::usage)
            .unwrap_or_default()
            .total;
        let elapsed = self
            .0
            .record
            .as_deref()
            .map(|record| record.elapsed)
            .unwrap_or_default();
        write!(f, "\n  in all: {tokens}, {elapsed:.1?}")
    }
}

fn write_tries(
    last: &FailedTry,
    tries: &[FailedTry],
    message: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    if last.number == 1 {
        return write!(f, ": {}", one_line(message, 1000));
    }
    write!(
        f,
        " after {} tries: {}",
        last.number,
        one_line(message, 1000)
    )?;
    if f.alternate() {
        return Ok(());
    }
    write_some(tries, f, |one, _, f| {
        write!(f, "\n  {}. ", one.number)?;
        write_wait(one.wait, f)?;
        write!(f, "{}: {}", one.category, one_line(&one.message, 300))
    })
}

fn write_some<T>(
    all: &[T],
    f: &mut fmt::Formatter<'_>,
    write: impl Fn(&T, usize, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    const SHOWN: usize = 8;
    let hidden = all.len().saturating_sub(SHOWN);
    for (index, one) in all.iter().enumerate() {
        match index {
            3 if hidden > 0 => write!(f, "\n  … {hidden} more …")?,
            index if (3..3 + hidden).contains(&index) => {}
            index => write(one, index, f)?,
        }
    }
    Ok(())
}

fn write_wait(wait: Duration, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if wait > Duration::ZERO {
        write!(f, "(after {wait:.1?}) ")
    } else {
        Ok(())
    }
}

fn write_attempts(attempts: &[AttemptRecord], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write_some(attempts, f, |attempt, index, f| {
        write!(f, "\n  {}. ", index + 1)?;
        write_wait(attempt.wait, f)?;
        if let (AttemptKind::FallbackModel, Some(model)) = (attempt.kind, &attempt.model) {
            write!(f, "(model {}) ", one_line(model, 100))?;
        }
        match attempt.category {
            Some(category) => write!(f, "{category}: {}", one_line(&attempt.message, 300)),
            None if attempt.tools.is_empty() => f.write_str("accepted"),
            None => {
                let tools = attempt
                    .tools
                    .iter()
                    .take(8)
                    .map(|tool| format!("{} {}", one_line(&tool.name, 64), tool.outcome));
                write!(f, "tools: {}", tools.collect::<Vec<_>>().join(", "))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_written_out() {
        let error = NodeError::new(Category::ServerError, "it says \u{202e}yas\u{2069}");
        for text in [
            format!("{error}"),
            format!("{error:#}"),
            format!("{error:?}"),
        ] {
            assert!(!text.contains(['\u{202e}', '\u{2069}']), "{text}");
            assert!(text.contains("202e"), "{text}");
        }
    }
}
