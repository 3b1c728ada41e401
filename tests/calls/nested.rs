//! Types that contain themselves, with several possible variants at each level.
#![allow(dead_code, reason = "the types are only read")]

use llmnode::{Flag, Reader, llm_output};

#[llm_output]
#[derive(Debug)]
#[serde(untagged)]
enum Nest {
    Two { a: Box<Nest> },
    Three { a: Option<Vec<Nest>>, b: Option<u8> },
    List(Vec<Nest>),
    Number(u8),
}

fn deep(levels: usize, inmost: &str) -> String {
    format!("{}{inmost}{}", "[".repeat(levels), "]".repeat(levels))
}

#[test]
fn unions_within_unions_are_looked_at_once_a_place() {
    let place = "[0]".repeat(12);
    for exact in [false, true] {
        let error = Reader::new()
            .exact(exact)
            .read::<Nest>(&deep(12, "\"x\""))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{place}: is \"x\", expected object with `a` or object with any of `a`, `b` or array or integer from 0 to 255"
            )
        );
    }
    let read = Reader::new().read::<Nest>(&deep(12, "\"7\"")).unwrap();
    let [repair] = read.repairs.as_slice() else {
        panic!("{:?}", read.repairs)
    };
    assert_eq!(
        (repair.flag.clone(), repair.place.as_str()),
        (Flag::Fitted("number_from_text".into()), place.as_str())
    );
}
