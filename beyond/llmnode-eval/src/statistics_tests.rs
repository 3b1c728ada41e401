use super::*;
use crate::random::Random;

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6
}

/// Figures of scipy 1.17.1: `t.ppf`, `binomtest`, `proportion_ci(method="wilson")`, `t.interval`, `ttest_1samp`.
#[test]
fn figures_are_those_of_scipy() {
    for (freedom, expected) in [
        (1.0, 12.706_204_736),
        (2.0, 4.302_652_730),
        (19.0, 2.093_024_054),
        (499.0, 1.964_729_391),
    ] {
        assert!(
            near(quantile(freedom, OUTSIDE), expected),
            "{freedom}: {}",
            quantile(freedom, OUTSIDE)
        );
    }
    for (up, down, p) in [
        (1, 0, 1.0),
        (5, 0, 0.0625),
        (8, 2, 0.109_375),
        (15, 5, 0.041_389_465),
        (7, 7, 1.0),
    ] {
        assert!(
            near(sign_test(up, down), p),
            "{up}, {down}: {}",
            sign_test(up, down)
        );
        assert!(near(sign_test(down, up), p));
    }
    let (low, high) = wilson(0.9, 20);
    assert!(
        near(low, 0.698_966_355) && near(high, 0.972_133_519),
        "{low} {high}"
    );
    let (low, high) = student(&[0.1, 0.4, 0.5, 0.8, 0.9]);
    assert!(
        near(low, 0.141_505_161) && near(high, 0.938_494_839),
        "{low} {high}"
    );
}

#[test]
fn intervals_stay_where_shares_can_be() {
    assert_eq!(wilson(1.0, 5).1, 1.0);
    assert_eq!(wilson(0.0, 5).0, 0.0);
    assert!(wilson(1.0, 5).0 > 0.5, "{:?}", wilson(1.0, 5));
    let (low, high) = agresti_min(3, 0, 3);
    assert!(low < 1.0 && high <= 1.0 && low > 0.0);
    let (low, high) = agresti_min(0, 0, 10);
    assert!(low < 0.0 && high > 0.0);
}

#[test]
fn flips_of_equal_differences_are_the_sign_test() {
    for (up, down) in [(5, 0), (8, 2), (3, 3), (1, 0)] {
        let mut differences = vec![0.25; up];
        differences.extend(vec![-0.25; down]);
        differences.extend([0.0; 7]);
        assert!(
            near(sign_flips(&differences), sign_test(up, down)),
            "{up}, {down}"
        );
    }
    assert_eq!(sign_flips(&[0.0; 30]), 1.0);
    assert_eq!(sign_flips(&[0.5; 30]), 0.0);
    let mixed: Vec<f64> = (0..20).map(|at| if at < 15 { 0.2 } else { -0.2 }).collect();
    assert!(
        near(sign_flips(&mixed), 0.020_991_505),
        "{}",
        sign_flips(&mixed)
    );
}

/// How often Wilson's interval holds the true share, summed over all outcomes.
fn coverage(n: usize, p: f64) -> f64 {
    let ln_choose =
        |k: f64| ln_gamma(n as f64 + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n as f64 - k + 1.0);
    let likely = |k: usize| {
        let k = k as f64;
        (ln_choose(k) + k * p.ln() + (n as f64 - k) * (1.0 - p).ln()).exp()
    };
    let holds = |k: usize| {
        let (low, high) = wilson(k as f64 / n as f64, n);
        low <= p && p <= high
    };
    (0..=n).filter(|k| holds(*k)).map(likely).sum()
}

const SIZES: [usize; 3] = [20, 100, 500];
const SHARES: [f64; 3] = [0.5, 0.9, 0.98];

#[test]
fn the_interval_of_a_share_holds_it_in_93_to_98_of_100_cases() {
    for n in SIZES {
        for p in SHARES {
            let exact = coverage(n, p);
            assert!((0.93..=0.98).contains(&exact), "n = {n}, p = {p}: {exact}");
        }
    }
}

/// Of 1,000 simulated sets, as many hold the true share as the sum says, to 0.7 points either way: so there are 10,000 here.
#[test]
fn simulated_sets_agree_with_the_exact_coverage() {
    const SETS: u32 = 10_000;
    let mut random = Random::new(1);
    for n in SIZES {
        for p in SHARES {
            let below = (p * 1e9) as usize;
            let mut held = 0;
            for _ in 0..SETS {
                let passed = (0..n)
                    .filter(|_| random.below(1_000_000_000) < below)
                    .count();
                let (low, high) = wilson(passed as f64 / n as f64, n);
                held += u32::from(low <= p && p <= high);
            }
            let (held, exact) = (f64::from(held) / f64::from(SETS), coverage(n, p));
            println!("n = {n}, p = {p}: simulated {held:.4}, exact {exact:.4}");
            assert!((0.93..=0.98).contains(&held), "n = {n}, p = {p}: {held}");
            let deviation = (exact * (1.0 - exact) / f64::from(SETS)).sqrt();
            assert!(
                (held - exact).abs() < 4.0 * deviation,
                "n = {n}, p = {p}: {held}, {exact}"
            );
        }
    }
}

/// Scores as F1 gives them: most are 1, some 0, the others between.
#[test]
fn the_interval_of_uneven_scores_holds_their_mean() {
    let mut random = Random::new(1);
    let mut score = || match random.below(10) {
        0 => 0.0,
        1..=5 => 1.0,
        _ => random.below(1_001) as f64 / 1_000.0,
    };
    let truth = 0.5 + 0.4 * 0.5;
    for n in SIZES {
        let held = (0..1_000).filter(|_| {
            let scores: Vec<f64> = (0..n).map(|_| score()).collect();
            let (low, high) = student(&scores);
            low <= truth && truth <= high
        });
        let held = held.count();
        println!("n = {n}: {held} of 1000");
        assert!((930..=980).contains(&held), "n = {n}: {held}");
    }
}
