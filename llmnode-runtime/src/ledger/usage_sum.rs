//! What all requests beneath something took, whatever nodes made them.

use std::sync::Mutex;
use std::time::Duration;

use super::record::AttemptRecord;
use super::usage::Usage;
use crate::panics::lock;

/// Adds up the attempts of all calls that are made within it, those that nodes make through their
/// [`Cx`](crate::Cx) included.
#[derive(Debug, Default)]
pub struct UsageSum<'r> {
    sum: Mutex<UsageTotals>,
    /// That of the step that the flow runs in.
    parent: Option<&'r UsageSum<'r>>,
}

/// What was added up.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsageTotals {
    pub usage: Usage,
    /// From the start of each request to the judgement on its answer; side by side they add up.
    pub asking: Duration,
}

impl<'r> UsageSum<'r> {
    /// One whose attempts count for another one as well.
    pub fn with_parent(parent: Option<&'r UsageSum<'r>>) -> Self {
        UsageSum { parent, ..UsageSum::default() }
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

    /// The sum, from which the next one begins at nothing.
    pub fn take(&self) -> UsageTotals {
        std::mem::take(&mut lock(&self.sum))
    }
}
