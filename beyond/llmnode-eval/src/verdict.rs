//! What a gate found, for a person.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use super::baseline::Baseline;
use super::common::Common;
use super::fall::{chance_of_fall, lowest_difference};
use super::report::Evaluation;

/// Of new and gone cases, so many are named.
const LISTED: usize = 5;

/// What a gate found. `Display` says it in a line or two.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// Which of the verdicts.
    pub kind: VerdictKind,
    /// How much higher the mean score is than that of the baseline, over the cases that both have; below 0, it fell.
    pub difference: f64,
    /// How many cases both have, with a score.
    pub cases: usize,
    /// How likely chance alone makes the scores fall so far.
    pub chance: f64,
    /// The lowest difference that would not be surprising.
    pub lowest: f64,
    /// The margin of the gate.
    pub margin: f64,
    /// The models that answered, then and now. `None`: the same ones.
    pub models: Option<[BTreeSet<String>; 2]>,
    /// The places of the cases that are new.
    pub added: Vec<usize>,
    /// The cases of the baseline that are gone, as it names them.
    pub gone: Vec<String>,
    /// The cases that had to be right in the baseline and are gone, or need not be right any more.
    pub no_must: Vec<String>,
    /// Tokens of one repeat of the cases that both have, then and now. `None`: a request did not report its usage.
    pub tokens: Option<[u64; 2]>,
}

/// Which verdict a gate gives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerdictKind {
    /// The scores fell by more than chance would make them fall. It is in a [`GateError`](super::GateError).
    Worse,
    /// The node is not worse, by the margin at most.
    NoWorse,
    /// There are too few cases, or they differ too much between runs, to say either.
    CannotTell,
    /// The baseline was written; nothing was compared.
    Written(PathBuf),
}

impl Verdict {
    /// `kind` is not judged yet.
    pub(super) fn between(
        report: &Evaluation,
        baseline: &Baseline,
        common: &Common<'_>,
        margin: f64,
    ) -> Self {
        let differences = common.differences();
        let steps = report.repeats.saturating_mul(baseline.repeats).max(1);
        let tokens_then = sum(common.pairs.iter().map(|pair| pair.then.tokens));
        let now = common.pairs.iter().map(|pair| pair.now);
        let tokens_now = sum(now.map(|case| case.usage.total.total()));
        let tokens =
            per_repeat(tokens_then, baseline.repeats).zip(per_repeat(tokens_now, report.repeats));
        let models = report.models();
        let are_known = !models.is_empty() && !baseline.models.is_empty();
        Verdict {
            kind: VerdictKind::CannotTell,
            difference: differences.iter().sum::<f64>() / differences.len() as f64,
            cases: differences.len(),
            chance: chance_of_fall(&differences, steps),
            lowest: lowest_difference(&differences),
            margin,
            models: (are_known && models != baseline.models)
                .then(|| [baseline.models.clone(), models]),
            added: common.added.clone(),
            gone: common.gone.clone(),
            no_must: common.no_must.clone(),
            tokens: tokens.map(|(then, now)| [then, now]),
        }
    }

    pub(super) fn written(report: &Evaluation, path: &Path) -> Self {
        Verdict {
            kind: VerdictKind::Written(path.to_owned()),
            difference: 0.0,
            cases: report.cases.len(),
            chance: 1.0,
            lowest: 0.0,
            margin: 0.0,
            models: None,
            added: Vec::new(),
            gone: Vec::new(),
            no_must: Vec::new(),
            tokens: None,
        }
    }

    /// How many cases would show that the node is no worse, roughly: the spread of few cases is itself uncertain. `None`: none would,
    /// since the difference that was seen is below the margin.
    fn cases_needed(&self) -> Option<[usize; 2]> {
        let room = self.difference + self.margin;
        if room <= 0.0 {
            return None;
        }
        let half_width = self.difference - self.lowest;
        let needed = self.cases as f64 * (half_width / room).powi(2);
        Some([0.7, 1.6].map(|factor| (needed * factor).ceil() as usize))
    }

    fn is_better(&self) -> bool {
        self.difference > 0.0 && self.lowest > 0.0
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict {
            difference,
            cases,
            chance,
            lowest,
            margin,
            ..
        } = self;
        match &self.kind {
            VerdictKind::Worse => {
                write!(
                    f,
                    "worse: {difference:+.3} over {cases} cases; by chance alone {}",
                    probability(*chance)
                )?;
            }
            VerdictKind::NoWorse if self.is_better() => {
                write!(
                    f,
                    "better: {difference:+.3} over {cases} cases, by {lowest:.3} at least; if node, prompt or model changed, write a new baseline to keep it"
                )?;
            }
            VerdictKind::NoWorse => {
                write!(
                    f,
                    "no worse: {difference:+.3} over {cases} cases, and hardly below {lowest:+.3} (margin {margin})"
                )?;
            }
            VerdictKind::CannotTell => {
                write!(
                    f,
                    "cannot tell: {difference:+.3} over {cases} cases may stand for {lowest:+.3} (margin {margin})"
                )?;
                match self.cases_needed() {
                    Some([least, most]) => {
                        write!(f, "; some {least} to {most} cases would show it")?
                    }
                    None => f.write_str("; more cases would not show that it is no worse")?,
                }
            }
            VerdictKind::Written(path) => {
                write!(f, "{} is written, with {cases} cases", path.display())?
            }
        }
        self.write_changes(f)
    }
}

impl Verdict {
    fn write_changes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.added.is_empty() || !self.gone.is_empty() {
            let added = listed(&self.added);
            let gone = listed(&self.gone);
            write!(f, "\ncases: {added} new, {gone} gone")?;
        }
        if !self.no_must.is_empty() {
            let cases = listed(&self.no_must);
            write!(f, "\nhad to be right, and need not be now: {cases}")?;
        }
        if let Some([then, now]) = &self.models {
            write!(
                f,
                "\nthe model changed from {} to {}; compare both prompts on one of them",
                named(then),
                named(now)
            )?;
        }
        match self.tokens {
            Some([then, now]) if then != now => write!(f, "\ntokens a repeat: {then} → {now}"),
            _ => Ok(()),
        }
    }
}

/// A chance that is not 0 is not shown as 0.
fn probability(chance: f64) -> String {
    if chance < 0.001 {
        "p < 0.001".to_owned()
    } else {
        format!("p = {chance:.3}")
    }
}

/// `None`: one of them is unknown.
fn sum(mut tokens: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    tokens.try_fold(0_u64, |sum, tokens| Some(sum.saturating_add(tokens?)))
}

/// How many, and the first of them.
fn listed(items: &[impl fmt::Display]) -> String {
    let first: Vec<String> = items.iter().take(LISTED).map(ToString::to_string).collect();
    let more = if items.len() > LISTED { ", .." } else { "" };
    match items.len() {
        0 => "0".to_owned(),
        count => format!("{count} ({}{more})", first.join(", ")),
    }
}

fn per_repeat(tokens: Option<u64>, repeats: u32) -> Option<u64> {
    tokens.map(|sum| sum / u64::from(repeats.max(1)))
}

fn named(models: &BTreeSet<String>) -> String {
    models
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}
