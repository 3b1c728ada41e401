//! Whether scores fell, and how far they may have fallen: the statistics of the gate.
//!
//! In come the differences of cases, each the score now minus the score in the baseline. Two questions are asked of them, and
//! neither answers the other:
//!
//! 1. *Would chance alone make such a fall?* ([`chance_of_fall`]) The signs of the differences are flipped in all ways: exactly while
//!    scores are multiples of a step, by Student's t otherwise. With scores of 0 and 1 and one repeat this is McNemar's test.
//! 2. *How large may the fall be?* ([`lowest_difference`]) The lower of two limits, because each alone is too bold where few cases
//!    differ: Student's, with one case that rose and one that fell by a half added; and one that counts the cases that fell.
//!
//! Both are one-sided, at 5 %. `benches/src/bin/gate.rs` simulates how often the gate is wrong.

use super::statistics::{incomplete_beta, mean_and_error, quantile, two_sided};

const ALPHA: f64 = 0.05;
/// A case that fell by so much counts as one that fell.
const HALF: f64 = 0.5;
/// Sums of flipped signs are counted exactly up to so many steps.
const MOST_STEPS: f64 = 100_000.0;

/// How likely chance alone makes the sum as low as this. `steps`: scores differ by multiples of `1 / steps`, if they are multiples at
/// all.
pub fn chance_of_fall(differences: &[f64], steps: u32) -> f64 {
    if differences.iter().all(|difference| *difference == 0.0) {
        return 1.0;
    }
    in_steps(differences, steps).map_or_else(|| student(differences), |counted| flipped(&counted))
}

/// The differences in steps; `None`: they are no multiples, or too many.
fn in_steps(differences: &[f64], steps: u32) -> Option<Vec<i64>> {
    let scaled: Vec<f64> = differences
        .iter()
        .map(|difference| difference * f64::from(steps))
        .collect();
    let are_whole = scaled
        .iter()
        .all(|value| (value - value.round()).abs() < 1e-6);
    let sum: f64 = scaled.iter().map(|value| value.abs()).sum();
    let is_countable = are_whole && sum <= MOST_STEPS;
    is_countable.then(|| {
        scaled
            .into_iter()
            .map(|value| value.round() as i64)
            .collect()
    })
}

/// Of all ways to choose signs, the share of those whose sum is as low as the one that was seen.
fn flipped(differences: &[i64]) -> f64 {
    let moved: Vec<usize> = differences
        .iter()
        .filter(|value| **value != 0)
        .map(|value| value.unsigned_abs() as usize)
        .collect();
    let all: usize = moved.iter().sum();
    // By the sum of those with a plus: half of it goes on without this difference, half with it.
    let mut shares = vec![0.0; all + 1];
    shares[0] = 1.0;
    let mut reached = 0;
    for steps in moved {
        for sum in (0..=reached).rev() {
            let half = shares[sum] / 2.0;
            shares[sum] = half;
            shares[sum + steps] += half;
        }
        reached += steps;
    }
    let risen: i64 = differences.iter().filter(|value| **value > 0).sum();
    shares.iter().take(risen.unsigned_abs() as usize + 1).sum()
}

fn student(differences: &[f64]) -> f64 {
    if differences.len() < 2 {
        return 1.0;
    }
    let (mean, error) = mean_and_error(differences);
    if error == 0.0 {
        return if mean < 0.0 { 0.0 } else { 1.0 };
    }
    let t = mean / error;
    let tail = two_sided(t, differences.len() as f64 - 1.0) / 2.0;
    if t < 0.0 { tail } else { 1.0 - tail }
}

/// The lowest difference that would not be surprising.
pub fn lowest_difference(differences: &[f64]) -> f64 {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let mut padded = differences.to_vec();
    padded.extend([HALF, -HALF]);
    let (_, error) = mean_and_error(&padded);
    let by_spread = mean - quantile(padded.len() as f64 - 1.0, 2.0 * ALPHA) * error;

    let fallen = differences
        .iter()
        .filter(|difference| **difference <= -HALF)
        .count() as f64;
    let by_count = mean - (most_of(fallen, n) - fallen / n);
    by_spread.min(by_count)
}

/// The largest share of which so few in `n` would not be surprising: Clopper and Pearson's limit.
fn most_of(few: f64, n: f64) -> f64 {
    if few >= n {
        return 1.0;
    }
    let mut low = few / n;
    let mut high = 1.0;
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        let at_most_few = 1.0 - incomplete_beta(few + 1.0, n - few, middle);
        if at_most_few > ALPHA {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Whether a chance is too small to be one.
pub fn is_surprising(chance: f64) -> bool {
    chance <= ALPHA
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(fallen: usize, risen: usize, same: usize) -> Vec<f64> {
        let mut all = vec![-1.0; fallen];
        all.extend(vec![1.0; risen]);
        all.extend(vec![0.0; same]);
        all
    }

    /// Figures of scipy 1.17.1: `binomtest(k, n, alternative="less")`.
    #[test]
    fn whole_falls_are_mcnemars_test() {
        for (fallen, risen, p) in [
            (5, 0, 0.03125),
            (4, 0, 0.0625),
            (8, 2, 0.054_687_5),
            (15, 5, 0.020_694_733),
            (0, 3, 1.0),
        ] {
            let chance = chance_of_fall(&differences(fallen, risen, 20), 1);
            assert!((chance - p).abs() < 1e-6, "{fallen}, {risen}: {chance}");
        }
        assert_eq!(chance_of_fall(&[0.0; 9], 1), 1.0);
    }

    #[test]
    fn uneven_falls_are_counted_as_all_ways_of_signs() {
        // Of the eight ways, only the one that was seen is as low.
        assert_eq!(chance_of_fall(&[-1.0 / 3.0, -2.0 / 3.0, -1.0], 9), 0.125);
        // Not multiples: Student's t, one-sided (scipy's `ttest_1samp`).
        let chance = chance_of_fall(&[-0.1, -0.4, -0.5, 0.05, -0.9], 9);
        assert!((chance - 0.044_545).abs() < 1e-4, "{chance}");
    }

    /// scipy: `beta.ppf(0.95, few + 1, n - few)`.
    #[test]
    fn few_may_be_more() {
        for (few, n, most) in [
            (0.0, 12.0, 0.220_922),
            (3.0, 60.0, 0.124_187),
            (12.0, 12.0, 1.0),
        ] {
            assert!(
                (most_of(few, n) - most).abs() < 1e-5,
                "{few} of {n}: {}",
                most_of(few, n)
            );
        }
    }

    #[test]
    fn few_cases_show_little() {
        assert!(lowest_difference(&differences(0, 0, 12)) < -0.15);
        assert!(lowest_difference(&differences(0, 0, 200)) > -0.05);
        assert!(lowest_difference(&differences(20, 0, 180)) < -0.12);
    }
}
