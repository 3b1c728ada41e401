//! What fuzzing found.

use super::*;

fn refused_in_both(text: &str) {
    for effort in [Effort::Strict, Effort::Repair] {
        assert!(read_value(text, effort).is_err(), "{text}");
    }
}

#[test]
fn what_is_nearly_json_is_not_entered_where_nothing_is_repaired() {
    for text in [
        "{\"a\": {\"</think>\": {\"b\": 1}}, // c\n\"d\": 2}",
        "So: {'a': 1, \"]\": [\n{}]}",
        "```json\n[{'a': True, \"]\": [{}]}, true]\n```",
        "Here it is:\n{# and\n\"a\": [\"</think>\"], “b”: [3.0]}",
        "['[1]'“{\u{a0}a: \"b\"/* c: 'd' */",
    ] {
        assert!(read_value(text, Effort::Strict).is_err(), "{text}");
        assert!(read_value(text, Effort::Repair).is_ok(), "{text}");
    }
}

#[test]
fn what_nothing_can_mend_is_not_entered() {
    for text in [
        "Here it is:\n{/* one */\"\\ud800\": {\"a\": []}, \"}\": {\"b\": {}}}",
        "```\n[10.0, {\"\\ud800\": null, \"]\": {\"a\": 1}}, \"b\"]\n```",
        "Here it is:\n[# one\n[0.5, \"\\ud800\", []], {']': “a”, b: {\"c\": {}}}]",
        "{\"\\ud800\": \"a </think> b\", \"]\": [1], \"c\": {}}",
    ] {
        refused_in_both(text);
    }
}

#[test]
fn what_breaks_off_in_a_string_or_behind_a_tag_is_refused() {
    refused_in_both("callback({\"a\": None, \"b\": \"x, y: \",\"");
    refused_in_both("{\"a\": \"x, y: \",\"}");
    refused_in_both("Here it is:\n{\"</think>\": [0.5, False], k");
    refused_in_both("So: {\"a </think> b\": [0.5, False], k");
    refused_in_both("So: [{\"a\": \"<think> b\"}, [1], {\"c");
    refused_in_both("So: {\"a\": [012], \"a </think> b\": {\"}\": 1}}");
    refused_in_both("[[[None# no\n],\n[77]");
}

#[test]
fn a_comment_behind_a_word_is_no_part_of_it() {
    refused_in_both("{\"a\": some# no\n}");
    let reading = read_value("{\"a\": [null# no\n, 1], \"b\": True// yes\n}", Effort::Repair).unwrap();
    assert_eq!(reading.value, json!({"a": [null, 1], "b": true}));
    let reading = read_value("{\"a\": C#, \"b\": item#3, \"c\": 3# three\n}", Effort::Repair).unwrap();
    assert_eq!(reading.value, json!({"a": "C#", "b": "item#3", "c": 3}));
}

#[test]
fn space_behind_a_word_that_json_does_not_have_is_flagged() {
    let reading = read_value("{\"a\": [null\u{a0}]}", Effort::Repair).unwrap();
    assert_eq!(flags(&reading.notes), [Flag::Repaired(crate::flag::Repair::Space)]);
    assert!(read_value("{\"a\": [null\u{a0}]}", Effort::Strict).is_err());
}

#[test]
fn white_space_at_the_end_changes_nothing() {
    for text in ["[]#a", "{\"a\": \"b\"#c }", "Sure: {\"a\": 1}\n<[.b", "{\"a\": 1} [12"] {
        let read = |text: &str| read_value(text, Effort::Repair).map(|reading| reading.value);
        assert_eq!(read(text), read(&format!("{text}\n")), "{text}");
    }
}
