//! Figures as tables show them. What is unknown is `?`.

use llmnode_runtime::Tokens;

/// A figure that was never reported is not 0.
pub(super) fn tokens(tokens: Tokens) -> String {
    match tokens.total() {
        Some(total) => grouped(total),
        None if tokens.known == 0 => "?".to_owned(),
        None => format!("{}+?", grouped(tokens.known)),
    }
}

pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Of small models a call costs less than a millionth.
pub(super) fn cost(amount: Option<f64>) -> String {
    amount.map_or_else(|| "?".to_owned(), |amount| format!("{amount:.6}"))
}

pub(super) fn seconds(time: Option<f64>) -> String {
    time.map_or_else(|| "?".to_owned(), |time| format!("{time:.2}"))
}

/// From the lowest to the highest of several repeats. `None`: all are the same, or there is one.
pub(super) fn spread(scores: &[f64]) -> Option<String> {
    let lowest = scores.iter().copied().reduce(f64::min)?;
    let highest = scores.iter().copied().reduce(f64::max)?;
    (lowest < highest).then(|| format!("{lowest:.3} to {highest:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_threes() {
        let shown = [0, 999, 1_000, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
    }
}
