//! Whether JSON has so many values that a tree of them would fill the memory.
//!
//! Who writes `{},` a million times sends three megabytes, and a tree of them takes
//! six hundred. No model writes as many; a server may that is asked as one. Comes
//! in: JSON as it was written. Comes out: the tree, or that there is none.

use serde_json::Value;

/// An object takes some 600 bytes of memory, however short it is written, and any value 32.
const MOST_OBJECTS: usize = 50_000;
const MOST_VALUES: usize = 500_000;

/// Reads what a server wrote into a tree, unless that would take far more memory
/// than the text. `None`: it would, or this is no JSON.
pub fn small_tree(json: &[u8]) -> Option<Value> {
    if has_many_values(json) {
        return None;
    }
    serde_json::from_slice(json).ok()
}

/// Whether a tree of this JSON takes far more memory than the text.
pub fn has_many_values(json: &[u8]) -> bool {
    // Each object has two bytes.
    if json.len() < 2 * MOST_OBJECTS {
        return false;
    }
    let mut objects = 0_usize;
    let mut values = 0_usize;
    let mut is_in_text = false;
    let mut is_escaped = false;
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_in_text,
            b'"' => is_in_text = !is_in_text,
            _ if is_in_text => {}
            b'{' => objects += 1,
            b'[' | b',' => values += 1,
            _ => {}
        }
    }
    objects > MOST_OBJECTS || values > MOST_VALUES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_that_would_fill_the_memory_is_not_made() {
        let many = |value: &str, count: usize| format!("[{}]", vec![value; count].join(","));
        for json in [
            many("{}", MOST_OBJECTS + 1),
            many("0", MOST_VALUES + 1),
            many("[]", MOST_VALUES / 2 + 1),
        ] {
            assert_eq!(small_tree(json.as_bytes()), None, "{}", &json[..20]);
        }
        // Signs within texts are none.
        let text = format!("{{\"a\": \"{}\"}}", r#"{\\\"[,"#.repeat(MOST_VALUES));
        for json in [many("{}", MOST_OBJECTS), many("0", MOST_VALUES), text] {
            assert!(small_tree(json.as_bytes()).is_some(), "{}", &json[..20]);
        }
        assert_eq!(small_tree(b"{"), None);
    }
}
