//! Selects candidates of a Pareto front.

use llmnode_eval::ext::Random;

/// Candidates that lead on more cases are likelier. `scores`: of each candidate, by case; not empty.
pub(super) fn pick(scores: &[&[f64]], random: &mut Random) -> usize {
    let leads = leads(scores);
    let mut at = random.below(leads.iter().sum());
    for (candidate, leads) in leads.iter().enumerate() {
        if at < *leads {
            return candidate;
        }
        at -= leads;
    }
    0
}

/// 0 for a candidate that another one beats.
fn leads(scores: &[&[f64]]) -> Vec<usize> {
    let cases = scores.first().map_or(0, |scores| scores.len());
    let best: Vec<f64> = (0..cases)
        .map(|case| {
            let of_case = scores.iter().map(|scores| scores[case]);
            of_case.fold(f64::MIN, f64::max)
        })
        .collect();
    let mut leads = Vec::with_capacity(scores.len());
    for (at, one) in scores.iter().enumerate() {
        // Of equal candidates, the first stays.
        let is_beaten = scores
            .iter()
            .enumerate()
            .any(|(other_at, other)| beats(other, one) || (other_at < at && other == one));
        let best_at = one.iter().zip(&best).filter(|(score, best)| score >= best);
        leads.push(if is_beaten { 0 } else { best_at.count() });
    }
    leads
}

fn beats(one: &[f64], other: &[f64]) -> bool {
    one.iter().zip(other).all(|(one, other)| one >= other) && one != other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leads_nowhere_or_is_beaten_is_not_picked() {
        let scores: [&[f64]; 4] = [
            &[1.0, 0.0, 0.0],
            &[0.0, 1.0, 1.0],
            &[0.0, 1.0, 0.0],
            &[0.5, 0.5, 0.5],
        ];
        assert_eq!(leads(&scores), [1, 2, 0, 0]);
        let mut random = Random::new(3);
        let mut picked = [0_u32; 4];
        (0..3_000).for_each(|_| picked[pick(&scores, &mut random)] += 1);
        assert!(
            (900..1_100).contains(&picked[0]) && picked[0] + picked[1] == 3_000,
            "{picked:?}"
        );
    }

    #[test]
    fn of_equals_the_first_stays() {
        assert_eq!(leads(&[&[1.0, 0.0], &[1.0, 0.0]]), [2, 0]);
        assert_eq!(pick(&[&[0.0]], &mut Random::new(1)), 0);
        assert_eq!(pick(&[&[]], &mut Random::new(1)), 0);
    }
}
