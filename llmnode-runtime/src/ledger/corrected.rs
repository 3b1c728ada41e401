//! What corrections changed in an answer that was accepted.

use llmnode_reader::Reader;
use serde_json::Value;

const MOST: usize = 64;

/// A member that differs between the first answer that something was wrong with and
/// the one that was accepted: see
/// [`CallRecord::corrected`](super::CallRecord::corrected).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Correction {
    /// Its place, as a JSON pointer such as `/total/amount`.
    pub path: String,
    /// What it was. `None`: it was not there.
    pub before: Option<Value>,
    /// What it is. `None`: it is not there.
    pub after: Option<Value>,
}

/// `None`: the answer that was refused has no JSON.
pub(super) fn corrected(refused: &str, accepted: &str) -> Option<Vec<Correction>> {
    let mut changed = Vec::new();
    compare(
        Some(&value_of(refused)?),
        Some(&value_of(accepted)?),
        &mut String::new(),
        &mut changed,
    );
    Some(changed)
}

fn value_of(answer: &str) -> Option<Value> {
    Some(Reader::new().value(answer).ok()?.value)
}

fn compare(
    before: Option<&Value>,
    after: Option<&Value>,
    path: &mut String,
    changed: &mut Vec<Correction>,
) {
    match (before, after) {
        (before, after) if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let names = after
                .keys()
                .chain(before.keys().filter(|name| !after.contains_key(*name)));
            for name in names {
                let step = name.replace('~', "~0").replace('/', "~1");
                compare_within(&step, before.get(name), after.get(name), path, changed);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) if before.len() == after.len() => {
            for (at, (before, after)) in before.iter().zip(after).enumerate() {
                compare_within(&at.to_string(), Some(before), Some(after), path, changed);
            }
        }
        _ if changed.len() < MOST => {
            changed.push(Correction {
                path: path.clone(),
                before: before.cloned(),
                after: after.cloned(),
            });
        }
        _ => {}
    }
}

fn compare_within(
    step: &str,
    before: Option<&Value>,
    after: Option<&Value>,
    path: &mut String,
    changed: &mut Vec<Correction>,
) {
    let length = path.len();
    path.push('/');
    path.push_str(step);
    compare(before, after, path, changed);
    path.truncate(length);
}
