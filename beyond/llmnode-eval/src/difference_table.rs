//! Two reports beside each other, as a table for a terminal.
//!
//! First one line with both means and whether they differ by more than noise. Then the figures, old and new: the mean, each field, and
//! what a repeat used, since reports may have other repeats. Then the cases that fell: a line with both scores, tokens and times, and
//! below it both answers side by side, of objects only the members that differ. At last the places of the cases that rose.

use std::fmt;
use std::time::Duration;

use llmnode_runtime::Usage;
use serde_json::Value;

use super::columns::{columns, padded, shown, wrapped};
use super::difference::{CaseDiff, EvaluationDiff};
use super::evaluated_case::EvaluatedCase;
use super::figures::{cost, seconds, tokens};

/// As wide as most terminals, if the format says nothing.
const WIDTH: usize = 100;
/// The line of a case takes as much.
const LEAST_WIDTH: usize = 60;
/// Cases that fell, and places of those that rose.
const LISTED: usize = 20;
/// A value of an answer takes so many lines at most.
const LINES: usize = 3;
/// Before the answers.
const INDENT: usize = 8;
const BETWEEN: &str = " │ ";
/// A figure's column.
const FIGURE: usize = 12;
const LONGEST_NAME: usize = 32;

impl fmt::Display for EvaluationDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = f.width().unwrap_or(WIDTH).max(LEAST_WIDTH);
        f.write_str(&self.summary())?;
        self.write_figures(f)?;
        self.write_fallen(f, width)?;
        self.write_risen(f)
    }
}

/// One line of figures.
struct Figures {
    name: String,
    old: String,
    new: String,
    change: String,
}

impl Figures {
    fn of_scores(name: &str, old: f64, new: f64) -> Self {
        Figures {
            name: shown(name, LONGEST_NAME),
            old: format!("{old:.3}"),
            new: format!("{new:.3}"),
            change: format!("{:+.3}", new - old),
        }
    }

    /// Of figures that may be unknown: then there is no change, either.
    fn of_amounts(name: &str, texts: [String; 2], amounts: [Option<f64>; 2]) -> Self {
        let change = match amounts {
            [Some(old), Some(new)] if old > 0.0 => format!("{:+.0} %", 100.0 * (new / old - 1.0)),
            _ => String::new(),
        };
        let [old, new] = texts;
        Figures {
            name: name.to_owned(),
            old,
            new,
            change,
        }
    }
}

impl EvaluationDiff {
    fn figures(&self) -> Vec<Figures> {
        let mut figures = vec![Figures::of_scores("mean", self.other, self.mean)];
        let fields = self.fields.iter();
        figures
            .extend(fields.map(|(name, field)| Figures::of_scores(name, field.other, field.mean)));
        let used = [self.other_usage(), self.usage()];
        let repeats = [self.other_repeats, self.repeats].map(|repeats| f64::from(repeats.max(1)));
        let known_tokens = used.map(|usage| usage.total.total().map(|tokens| tokens as f64));
        figures.push(Figures::of_amounts(
            "tokens a repeat",
            [
                tokens_of(&used[0], repeats[0]),
                tokens_of(&used[1], repeats[1]),
            ],
            per_repeat(known_tokens, repeats),
        ));
        let costs = used.map(|usage| usage.cost.total().filter(|_| usage.requests > 0));
        figures.push(Figures::of_amounts(
            "cost a repeat",
            per_repeat(costs, repeats).map(cost),
            per_repeat(costs, repeats),
        ));
        let old = mean_time(self.cases.iter().map(|case| &case.other));
        let new = mean_time(self.cases.iter().map(|case| &case.this));
        let times = [old, new].map(|time| time.map(|time| time.as_secs_f64()));
        figures.push(Figures::of_amounts(
            "seconds a case",
            times.map(seconds),
            times,
        ));
        figures
    }

    fn write_figures(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = self.figures();
        let names = figures.iter().map(|figure| columns(&figure.name)).max();
        let width = names.unwrap_or_default();
        let head = " ".repeat(width);
        write!(f, "\n\n{head}  {:>FIGURE$}  {:>FIGURE$}", "old", "new")?;
        for Figures {
            name,
            old,
            new,
            change,
        } in &figures
        {
            let name = padded(name, width);
            let line = format!("{name}  {old:>FIGURE$}  {new:>FIGURE$}  {change}");
            write!(f, "\n{}", line.trim_end())?;
        }
        Ok(())
    }

    fn write_fallen(&self, f: &mut fmt::Formatter<'_>, width: usize) -> fmt::Result {
        let fallen = self.fallen();
        if fallen.is_empty() {
            return Ok(());
        }
        write!(
            f,
            "\n\n{:>6}  {:<14}  {:<16}  seconds",
            "fell", "score", "tokens"
        )?;
        for case in fallen.iter().take(LISTED) {
            self.write_case(f, case)?;
            write_answers(f, case, width)?;
        }
        match fallen.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, "\n{more} more fell"),
        }
    }

    /// Of several repeats, what one of them used.
    fn write_case(&self, f: &mut fmt::Formatter<'_>, case: &CaseDiff) -> fmt::Result {
        let CaseDiff { place, this, other } = case;
        let score = format!("{:.3} → {:.3}", other.score, this.score);
        let used = format!(
            "{} → {}",
            tokens_of(&other.total_usage(), f64::from(self.other_repeats.max(1))),
            tokens_of(&this.total_usage(), f64::from(self.repeats.max(1)))
        );
        let times = format!(
            "{:.2} → {:.2}",
            other.elapsed.as_secs_f64(),
            this.elapsed.as_secs_f64()
        );
        write!(f, "\n{place:>6}  {score:<14}  {used:<16}  {times}")
    }

    fn write_risen(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let risen = self.cases.iter().filter(|case| case.difference() > 0.0);
        let places: Vec<String> = risen.map(|case| case.place.to_string()).collect();
        if places.is_empty() {
            return Ok(());
        }
        let listed = &places[..places.len().min(LISTED)];
        write!(f, "\n\nrose: {}", listed.join(", "))?;
        match places.len() - listed.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// The old answer beside the new one, then what the metric says of the new one.
fn write_answers(f: &mut fmt::Formatter<'_>, case: &CaseDiff, width: usize) -> fmt::Result {
    let column = (width - INDENT - columns(BETWEEN)) / 2;
    let indent = " ".repeat(INDENT);
    for [old, new] in side_by_side(case) {
        let old = wrapped(&old, column, LINES);
        let new = wrapped(&new, column, LINES);
        for at in 0..old.len().max(new.len()) {
            let left = padded(old.get(at).map_or("", String::as_str), column);
            let right = new.get(at).map_or("", String::as_str);
            write!(
                f,
                "\n{}",
                format!("{indent}{left}{BETWEEN}{right}").trim_end()
            )?;
        }
    }
    // What failed has its reason in place of an answer.
    let feedback = match case.this.failure {
        Some(_) => "",
        None => &case.this.feedback,
    };
    for line in wrapped(feedback, width - INDENT, LINES) {
        write!(f, "\n{indent}{line}")?;
    }
    Ok(())
}

/// Texts that belong beside each other: the members that differ, or the whole answers.
fn side_by_side(case: &CaseDiff) -> Vec<[String; 2]> {
    let answers = [&case.other.output, &case.this.output];
    if let [Some(Value::Object(old)), Some(Value::Object(new))] = answers {
        let gone_too = old
            .keys()
            .chain(new.keys().filter(|name| !old.contains_key(*name)));
        let differ = gone_too.filter(|name| old.get(*name) != new.get(*name));
        let members: Vec<_> = differ
            .map(|name| [member(name, old.get(name)), member(name, new.get(name))])
            .collect();
        // Both may have been the same in the repeat that is kept.
        if !members.is_empty() {
            return members;
        }
    }
    vec![[answer(&case.other), answer(&case.this)]]
}

fn member(name: &str, value: Option<&Value>) -> String {
    value.map_or_else(String::new, |value| format!("{name}: {value}"))
}

fn answer(case: &EvaluatedCase) -> String {
    match (&case.output, &case.failure) {
        (Some(Value::String(text)), _) => text.clone(),
        (Some(output), _) => output.to_string(),
        (None, Some(failure)) => failure.message.clone(),
        (None, None) => String::new(),
    }
}

/// The tokens that are known, and whether there are others.
fn tokens_of(usage: &Usage, repeats: f64) -> String {
    let mut each = usage.total;
    each.known = (each.known as f64 / repeats).round() as u64;
    tokens(each)
}

fn per_repeat(amounts: [Option<f64>; 2], repeats: [f64; 2]) -> [Option<f64>; 2] {
    let [old, new] = amounts;
    let [old_repeats, new_repeats] = repeats;
    [
        old.map(|old| old / old_repeats),
        new.map(|new| new / new_repeats),
    ]
}

/// Without answers from a journal, which took no time.
fn mean_time<'a>(cases: impl Iterator<Item = &'a EvaluatedCase>) -> Option<Duration> {
    let fresh: Vec<_> = cases.filter(|case| case.replayed == 0).collect();
    let times = fresh.iter().map(|case| case.elapsed);
    let sum = times.fold(Duration::ZERO, Duration::saturating_add);
    sum.checked_div(u32::try_from(fresh.len()).unwrap_or(u32::MAX))
}
