//! A report as a table for a terminal.

use std::collections::BTreeMap;
use std::fmt;

use llmnode_runtime::Usage;

use super::columns::shown;
use super::evaluated_case::EvaluatedCase;
use super::figures::{grouped, spread, tokens};
use super::report::Evaluation;

const LISTED: usize = 20;

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.interval();
        let n = self.cases.len();
        let failed = self.failures().count();
        let cases = if n == 1 { "case" } else { "cases" };
        write!(
            f,
            "{}: {:.3} (95 %: {low:.3} to {high:.3}), {n} {cases}, {failed} failed",
            self.node,
            self.mean()
        )?;
        self.write_left_out(f)?;
        self.write_fields(f)?;
        f.write_str("\n")?;
        write_usage(f, &self.usage())?;
        match self.time_per_case() {
            Some(time) => write!(f, ", {:.2} s per case", time.as_secs_f64())?,
            None => f.write_str(", time unknown")?,
        }
        match self.cases.iter().map(|case| case.replayed).sum::<u32>() {
            0 => {}
            replayed => write!(f, "; {replayed} answers from the journal")?,
        }
        self.write_worst(f)
    }
}

impl Evaluation {
    fn write_left_out(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut by_category = BTreeMap::<&str, usize>::new();
        for (_, failure) in self.left_out() {
            *by_category.entry(failure.category.as_str()).or_default() += 1;
        }
        if by_category.is_empty() {
            return Ok(());
        }
        let categories: Vec<_> = by_category
            .iter()
            .map(|(category, times)| format!("{times} {category}"))
            .collect();
        write!(
            f,
            ", {} left out ({})",
            self.left_out().count(),
            categories.join(", ")
        )
    }

    /// One field alone says the same as the mean, or little more.
    fn write_fields(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields();
        if fields.len() < 2 {
            return Ok(());
        }
        let means: Vec<_> = fields
            .iter()
            .map(|(name, mean)| format!("{} {mean:.3}", shown(name, 32)))
            .collect();
        write!(f, "\nby field: {}", means.join(", "))
    }

    fn write_worst(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below = self
            .cases
            .iter()
            .enumerate()
            .filter(|(_, case)| case.score < 1.0 && !case.is_left_out());
        let mut worst: Vec<_> = below.collect();
        if worst.is_empty() {
            return Ok(());
        }
        // The sort is stable: equal scores keep their order.
        worst.sort_by(|(_, one), (_, other)| one.score.total_cmp(&other.score));
        write!(
            f,
            "\n\n{:>6}  {:>5}  {:>8}  {:>7}",
            "case", "score", "tokens", "seconds"
        )?;
        for (index, case) in worst.iter().take(LISTED) {
            let tokens = tokens(case.usage.total);
            let time = case.elapsed.as_secs_f64();
            write!(
                f,
                "\n{index:>6}  {:>5.3}  {tokens:>8}  {time:>7.2}",
                case.score
            )?;
            if let Some(spread) = spread(&case.scores) {
                write!(f, "  {spread}")?;
            }
            match reason(case) {
                reason if reason.is_empty() => {}
                reason => write!(f, "  {reason}")?,
            }
        }
        match worst.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, "\n{more} more below 1"),
        }
    }
}

fn reason(case: &EvaluatedCase) -> String {
    shown(case.reason(), 100)
}

fn write_usage(f: &mut fmt::Formatter<'_>, usage: &Usage) -> fmt::Result {
    write!(
        f,
        "{} requests, {} tokens",
        usage.requests,
        grouped(usage.total.known)
    )?;
    if usage.total.unreported_calls > 0 {
        write!(
            f,
            " and those of {} requests that did not report theirs",
            usage.total.unreported_calls
        )?;
    }
    match usage.cost.total() {
        Some(cost) if usage.requests > 0 => write!(f, ", cost {cost:.6}"),
        Some(_) => Ok(()),
        None => f.write_str(", cost unknown"),
    }
}
