//! Runs several tries, of which the best one counts.

use llmnode_runtime::{Group, NodeError};

pub(crate) struct Assessment {
    pub(crate) complaints: Vec<String>,
    pub(crate) reward: f64,
}

pub(crate) trait Tries {
    type Value;

    async fn attempt(&self, hint: Option<&str>) -> Result<Self::Value, NodeError>;

    fn judge(&self, value: &Self::Value) -> Assessment;

    async fn hint(
        &self,
        value: &Self::Value,
        judged: &Assessment,
    ) -> Result<Option<String>, NodeError>;
}

pub(crate) struct Best<T> {
    pub(crate) value: T,
    pub(crate) met: bool,
    pub(crate) judged: Assessment,
    pub(crate) tries: u32,
}

/// Of equal values, the first counts. A failed try is an error only if none succeeded, or if it stops the run.
pub(crate) async fn run_tries<T: Tries>(
    tries: u32,
    at_least: f64,
    of: &T,
) -> Result<Option<Best<T::Value>>, NodeError> {
    let mut best: Option<Best<T::Value>> = None;
    let mut failed = None;
    let mut hint = None;
    for number in 1..=tries {
        let value = match of.attempt(hint.as_deref()).await {
            Ok(value) => value,
            Err(error) => {
                let ends = error.category().group() == Group::Stop;
                failed = Some(error);
                if ends {
                    break;
                }
                continue;
            }
        };
        let judged = of.judge(&value);
        let met = judged.complaints.is_empty() && judged.reward >= at_least;
        if !met && number < tries {
            match of.hint(&value, &judged).await {
                Ok(feedback) => hint = feedback,
                // Hints are optional.
                Err(error) if error.category().group() != Group::Stop => {}
                Err(error) => failed = Some(error),
            }
        }
        let better = best
            .as_ref()
            .is_none_or(|best| rank(&judged) > rank(&best.judged));
        if better {
            best = Some(Best {
                value,
                met,
                judged,
                tries: number,
            });
        } else if let Some(best) = &mut best {
            best.tries = number;
        }
        if met
            || failed
                .as_ref()
                .is_some_and(|error: &NodeError| error.category().group() == Group::Stop)
        {
            break;
        }
    }
    match (best, failed) {
        (None, Some(error)) => Err(error),
        (best, _) => Ok(best),
    }
}

/// Fewer complaints first, then the reward; NaN is the worst.
fn rank(judged: &Assessment) -> (std::cmp::Reverse<usize>, f64) {
    let reward = if judged.reward.is_nan() {
        f64::NEG_INFINITY
    } else {
        judged.reward
    };
    (std::cmp::Reverse(judged.complaints.len()), reward)
}
