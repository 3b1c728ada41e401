//! Adds up what the requests of a scope used, whichever nodes made them.

use std::sync::Mutex;
use std::time::Duration;

use llmnode_model::internal::lock;

use super::record::AttemptRecord;
use super::usage::Usage;

/// Adds up the attempts of all calls that are made within it, those that nodes make through their
/// [`Cx`](crate::Cx) included.
#[derive(Debug, Default)]
pub struct UsageSum<'r> {
    sum: Mutex<UsageTotals>,
    parent: Option<&'r UsageSum<'r>>,
}

/// The figures of a [`UsageSum`].
#[derive(Clone, Copy, Debug, Default)]
pub struct UsageTotals {
    pub usage: Usage,
    /// The time from the start of each request to the end of validation; the times
    /// of concurrent requests add up.
    pub asking: Duration,
}

impl<'r> UsageSum<'r> {
    /// Creates a sum whose attempts also count for another one.
    pub fn with_parent(parent: Option<&'r UsageSum<'r>>) -> Self {
        UsageSum {
            parent,
            ..UsageSum::default()
        }
    }

    pub(super) fn add(&self, attempt: &AttemptRecord) {
        let mut sum = lock(&self.sum);
        sum.usage.add(attempt);
        sum.asking = sum.asking.saturating_add(attempt.elapsed);
        drop(sum);
        if let Some(parent) = self.parent {
            parent.add(attempt);
        }
    }

    /// Returns the sum and resets it.
    pub fn take(&self) -> UsageTotals {
        std::mem::take(&mut lock(&self.sum))
    }
}
