//! Confidence intervals and significance tests.

/// 95 % of a normal distribution are within this many standard deviations.
const Z: f64 = 1.959_963_984_540_054;

/// What is outside of a two-sided interval of 95 %.
const OUTSIDE: f64 = 0.05;

/// Wilson's interval for a share: `mean` of `n` cases.
pub(super) fn wilson(mean: f64, n: usize) -> (f64, f64) {
    let n = n as f64;
    let scale = 1.0 + Z * Z / n;
    let centre = (mean + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale
        * (mean * (1.0 - mean) / n + Z * Z / (4.0 * n * n))
            .max(0.0)
            .sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

/// Student's t; needs two values.
pub(super) fn student(values: &[f64]) -> (f64, f64) {
    let (mean, error) = mean_and_error(values);
    let half = quantile(values.len() as f64 - 1.0, OUTSIDE) * error;
    (mean - half, mean + half)
}

/// Agresti and Min, for paired shares of `n` cases: `up` are 1 only in the second, `down` only in the first.
pub(super) fn agresti_min(up: usize, down: usize, n: usize) -> (f64, f64) {
    let up = up as f64 + 0.5;
    let down = down as f64 + 0.5;
    let n = n as f64 + 2.0;
    let centre = (up - down) / n;
    let half = Z * ((up + down) - (up - down).powi(2) / n).max(0.0).sqrt() / n;
    ((centre - half).max(-1.0), (centre + half).min(1.0))
}

/// McNemar's exact test.
pub(super) fn sign_test(up: usize, down: usize) -> f64 {
    let fewer = up.min(down) as f64;
    let all = (up + down) as f64;
    // P(X ≤ k) of a binomial distribution, by the incomplete beta function.
    if up == down {
        1.0
    } else {
        (2.0 * incomplete_beta(all - fewer, fewer + 1.0, 0.5)).min(1.0)
    }
}

/// Permutation test of the signs: exact for up to 16 differences that are not 0, Student's t beyond.
pub(super) fn sign_flips(differences: &[f64]) -> f64 {
    const EXACT: usize = 16;
    let moved: Vec<f64> = differences
        .iter()
        .copied()
        .filter(|difference| *difference != 0.0)
        .collect();
    if moved.is_empty() {
        return 1.0;
    }
    if moved.len() > EXACT {
        return student_test(differences);
    }
    let seen = moved.iter().sum::<f64>().abs();
    let ways = 1_u32 << moved.len();
    // The tolerance is for rounding: equal sums must count.
    let as_large = (0..ways)
        .filter(|signs| flipped_sum(&moved, *signs).abs() >= seen - 1e-9)
        .count();
    as_large as f64 / f64::from(ways)
}

/// Of these, each with the sign that its bit says.
fn flipped_sum(moved: &[f64], signs: u32) -> f64 {
    let signed = moved.iter().enumerate();
    signed
        .map(|(at, moved)| if signs >> at & 1 == 1 { *moved } else { -moved })
        .sum()
}

fn student_test(differences: &[f64]) -> f64 {
    let (mean, error) = mean_and_error(differences);
    if error == 0.0 {
        return if mean == 0.0 { 1.0 } else { 0.0 };
    }
    two_sided(mean / error, differences.len() as f64 - 1.0)
}

pub(super) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

pub(super) fn two_sided(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// Of Student's t: where so much is outside, on both sides together. By bisection.
pub(super) fn quantile(freedom: f64, outside: f64) -> f64 {
    let mut low = 0.0;
    let mut high = 1e4;
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if two_sided(middle, freedom) > outside {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Regularised; by its continued fraction (Lentz).
pub(super) fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side of the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front =
        (a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp() / a;
    front * fraction(a, b, x)
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let mut value = 1.0;
    let mut c = 1.0;
    let mut d = 0.0;
    for step in 0..2_000_u32 {
        let m = f64::from(step / 2);
        let numerator = match (step, step % 2) {
            (0, _) => 1.0,
            (_, 0) => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        d = 1.0 / off_zero(1.0 + numerator * d);
        c = off_zero(1.0 + numerator / c);
        let factor = c * d;
        value *= factor;
        if step > 0 && (factor - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value - 1.0
}

/// What is divided by.
fn off_zero(value: f64) -> f64 {
    const TINY: f64 = 1e-300;
    if value.abs() < TINY { TINY } else { value }
}

/// Lanczos; `x` above 0.
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let terms = COEFFICIENTS
        .iter()
        .zip(1_u32..)
        .map(|(coefficient, at)| coefficient / (x + f64::from(at)));
    let sum = 0.999_999_999_999_809_9 + terms.sum::<f64>();
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
#[path = "statistics_tests.rs"]
mod tests;
