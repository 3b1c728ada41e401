//! What a correction changed in an answer that was accepted.

use llmnode_reader::Reader;
use serde_json::Value;

const MOST: usize = 64;

/// JSON pointers to the members that a correction changed.
pub(super) fn corrected(refused: &str, accepted: &str) -> Vec<String> {
    let value = |answer: &str| Some(Reader::new().value(answer).ok()?.value);
    let mut changed = Vec::new();
    if let (Some(refused), Some(accepted)) = (value(refused), value(accepted)) {
        compare(&refused, &accepted, &mut String::new(), &mut changed);
    }
    changed
}

fn compare(before: &Value, after: &Value, path: &mut String, changed: &mut Vec<String>) {
    let length = path.len();
    let mut inner = |name: &str, before: &Value, after: &Value| {
        path.push('/');
        path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        compare(before, after, path, changed);
        path.truncate(length);
    };
    match (before, after) {
        (before, after) if before == after => {}
        (Value::Object(before), Value::Object(after)) => {
            let names = after.keys().chain(before.keys().filter(|name| !after.contains_key(*name)));
            for name in names {
                let [before, after] = [before, after].map(|all| all.get(name).unwrap_or(&Value::Null));
                inner(name, before, after);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (at, (before, after)) in before.iter().zip(after).enumerate() {
                inner(&at.to_string(), before, after);
            }
        }
        _ if changed.len() < MOST => changed.push(path.clone()),
        _ => {}
    }
}
