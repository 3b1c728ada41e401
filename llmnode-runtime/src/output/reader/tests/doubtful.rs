//! Texts that models write and that have a second reading, or that hide a part of the value.

use super::*;

fn error(text: &str) -> String {
    match read_value(text, Effort::Repair) {
        Ok(read) => panic!("{text}: {}", read.value),
        Err(violations) => violations[0].to_string(),
    }
}

/// Each text is refused in these words.
fn all_are_refused(texts: &[(&str, &str)]) {
    for (text, said) in texts {
        let error = error(text);
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn a_comment_that_stands_for_what_was_left_out_is_no_comment() {
    let said = "an ellipsis in a comment stands for what was left out";
    all_are_refused(&[
        ("{\"items\": [1, 2, // ... more items\n]}", said),
        ("{\"items\": [1, 2 /* … */]}", said),
        ("{\"items\": [1, 2,\n # 97 more ...\n]}", said),
        ("{\"a\": 1, // ...\n}", said),
    ]);
}

#[test]
fn what_may_be_a_value_is_no_comment() {
    let said = "a string with such characters must stand in quotes";
    all_are_refused(&[
        ("[\n #ff0000,\n #00ff00\n]", "line 2 column 2: expected a value"),
        ("{\n\"b\": 2,\n\"a\": issue #12\n}", said),
        ("{\"a\": src/**/, \"b\": 1}", said),
    ]);
    let read = read_value("{ # one\n\"a\": b # two\n}", Effort::Repair).unwrap();
    assert_eq!(read.value, json!({"a": "b"}));
}

#[test]
fn a_bare_string_that_may_go_on_behind_its_comma_or_line_is_refused() {
    let comma = "a key, or a part of the string before the comma";
    let line = "a line end behind a literal; a comma is missing";
    all_are_refused(&[
        ("{\"quote\": Well, I think so: yes, \"b\": 1}", comma),
        ("{\"a\": Note, see: this}", comma),
        ("{a: {\"b\": 1}, c: value, with commas: yes}", comma),
        ("{a: true\n b}", line),
    ]);
}

#[test]
fn a_bare_word_that_may_be_a_literal_is_refused() {
    let choices = ["true/false", "true or false", "null / 1"];
    for word in
        ["none", "nil", "NONE", "tRue", "UNDEFINED", "Nan", "tru", "Fals", "nul"].into_iter().chain(choices)
    {
        assert!(error(&format!("{{\"a\": {word}}}")).contains("column 7: "), "{word}");
    }
}

#[test]
fn a_word_in_brackets_alone_is_no_list() {
    for text in ["[redacted]", "[No answer]", "[your answer here]", "see [1](https://b.c) for more"] {
        assert!(error(text).contains("no JSON in the answer"), "{text}");
    }
    assert_eq!(read_value("[https://b.c]", Effort::Repair).unwrap().value, json!(["https://b.c"]));
}

#[test]
fn a_value_that_goes_on_behind_closers_or_on_the_next_line_is_refused() {
    let said = "follows the JSON as if that went on";
    all_are_refused(&[
        ("{\"a\": 1}\n\"b\": 2}", said),
        ("{\"a\": {\"x\": 1}}\n,\"b\": 2}", said),
        ("{\"a\": 1}},\n \"b\": 2}", said),
        ("{\"a\": 1}}, \"b\": 2}", said),
        ("{'a': 1}, 'b': 2}", said),
        ("[1, 2], 3]", said),
    ]);
    for text in ["{\"a\": 1}, and more.", "{\"a\": 1}}\n\n\"Done\" is what I say: done."] {
        assert_eq!(read_value(text, Effort::Repair).unwrap().value, json!({"a": 1}), "{text}");
    }
}

#[test]
fn quotation_marks_of_code_are_not_taken_for_those_of_a_text() {
    let said = "a quotation mark that may end the string or belong to it";
    all_are_refused(&[
        ("{\"code\": \"f(\"a\", \"b\": \"c\")\", \"z\": 1}", said),
        ("{\"a\": \"Hello, \"+\" world\"}", said),
        ("{\"a\": \"x \"+y+\" z\"}", said),
        ("{\"a\": \"(x)\"=>\"(y)\", \"b\": 1}", said),
        ("{\"a\": \"x.\"->\".y\"}", said),
        ("{\"a\": \"Yes!\"or\"(no)\"}", said),
        ("{\"a\": \"\"\", \"b\": \"\"\"}", "three quotation marks, which may be a string of one"),
        ("{a: `x ${y}`}", "a string with a place for a value in it"),
    ]);
}

#[test]
fn where_marks_were_guessed_nothing_is_closed_that_breaks_off() {
    all_are_refused(&[
        ("{\"text\": \"Hello, re: [1]", "is not complete"),
        ("{\"a\": \"say \"so\" twice\", \"b\": {\"c\": \"d\"}", "is not complete"),
    ]);
}

#[test]
fn json_in_notes_to_itself_is_no_answer() {
    for name in ["scratchpad", "analysis", "reflection", "thoughts"] {
        assert!(error(&format!("<{name}>{{\"a\": 1}}</{name}> I cannot say.")).contains("no JSON"), "{name}");
    }
}

#[test]
fn commas_in_a_string_without_an_end_are_looked_at_once() {
    let commas = "x,".repeat(500_000);
    assert!(error(&format!("{{\"a\": \"{commas}")).contains("is not complete"));
    let said = "a quotation mark that may end the string or belong to it";
    assert!(error(&format!("{{\"a\": \"{commas}\" y\", \"b\": 1}}")).contains(said));
}

#[test]
fn a_fence_within_a_string_of_the_json_holds_no_answer() {
    for text in [
        "{\"md\": \"Example:\n```json\n[1]\n```\ndone\", \"b\": 2}",
        "{'md': 'Example:\n```json\n[1]\n```\ndone', 'b': 2}",
        "Here:\n{\"md\": \"\"\"Example:\n```json\n[1]\n```\ndone\"\"\", \"b\": 2}",
    ] {
        let read = read_value(text, Effort::Repair).unwrap();
        assert_eq!(read.value, json!({"md": "Example:\n```json\n[1]\n```\ndone", "b": 2}), "{text}");
        assert!(!flags(&read.notes).contains(&Flag::Fenced), "{text}");
    }
    for text in [
        "{\"md\": \"Example:\n```json\n{\"name\": \"a\"}\n```\ndone\", \"b\": 2}",
        "{\"md\": \"Example:\n```json\n{\"name\": \"a\"}\n```\n",
    ] {
        error(text);
        assert!(of::<Item>(text).is_err(), "{text}");
        assert!(read_value(text, Effort::Strict).is_err(), "{text}");
    }
}

#[test]
fn json_beside_a_fence_is_its_rival() {
    for text in [
        "```json\n{\"name\": \"a\"}\n```\nWait, it should be {\"name\": \"b\"}.",
        "First {\"name\": \"b\"}, then:\n```json\n{\"name\": \"a\"}\n```",
        "```json\n{\"name\": \"a\"}\n```\nCorrection: {\"name\": \"b\",}",
        "```json\n{'name': 'a'}\n```\nCorrection:\n{'name': 'b'}",
    ] {
        assert!(error(text).starts_with("two different JSON values"), "{text}");
        assert!(of::<Item>(text).unwrap_err().starts_with("two different JSON values"), "{text}");
    }
    for text in [
        "```json\n{\"name\": \"a\"}\n```\nI mean {\"name\": \"a\"}.",
        "Of {name: x} and [1]:\n```json\n{\"name\": \"a\"}\n```\nand {}, {see} or fn() { \"x\" }",
        "```json\n{\"name\": \"a\"}\n```\nI mean {'name': 'a'}, of the form {'name': string}.",
    ] {
        assert_eq!(of::<Item>(text).unwrap().value, item("a", 0), "{text}");
    }
}

#[test]
fn fences_in_strings_without_number_are_read_in_linear_time() {
    let _ = read_value(&"[\"x\n```y\n\"]\n".repeat(40_000), Effort::Repair);
    let _ = read_value(&"{\"x\": 1}\n```y\n[1]\n```\n".repeat(40_000), Effort::Repair);
}

#[test]
fn words_that_stand_for_what_was_left_out_are_no_comment_and_no_item() {
    let comment = "words in a comment stand for what was left out";
    all_are_refused(&[
        ("{\"items\": [{\"n\": 1}, // remaining items omitted\n]}", comment),
        ("{\"items\": [1, 2 /* etc. */]}", comment),
        ("{\"a\": 1, // TODO: add the rest\n}", comment),
        ("{\"a\": 1, # other fields unchanged\n}", comment),
        ("{\"items\": [1, 2, // and 7 more items\n]}", comment),
        ("[{\"a\": 1},\n// add more here\n]", comment),
        ("[{\"a\": 1},\n// repeat for each user\n]", comment),
        ("[1, // and 8 others\n]", comment),
        ("[1, /* 8 further ones */]", comment),
        ("{\"a\": [1, 2, etc]}", "words that stand for what was left out"),
        ("[red, blue, and so on]", "words that stand for what was left out"),
    ]);
    let read = read_value("{\"a\": 1 /* the remaining balance, one more than before */}", Effort::Repair);
    assert_eq!(read.unwrap().value, json!({"a": 1}));
    let read = read_value("{\"a\": 1, // 2 more than before\n\"b\": [repeat, continue]}", Effort::Repair);
    assert_eq!(read.unwrap().value, json!({"a": 1, "b": ["repeat", "continue"]}));
}

#[test]
fn a_number_that_may_be_the_rest_of_the_words_before_its_comma_is_refused() {
    let said = "a number, or a part of the string before the comma";
    all_are_refused(&[
        ("[$1,234, $2,500]", said),
        ("{\"dates\": [March 3, 2024, April 5, 2024]}", said),
        ("[red, green, and blue]", "a word that joins items"),
    ]);
    let read = read_value("[March, 3, Android, \"order\", 4]", Effort::Repair).unwrap();
    assert_eq!(read.value, json!(["March", 3, "Android", "order", 4]));
}

#[test]
fn a_member_behind_the_words_of_a_comment_is_no_comment() {
    let said = "a comment in which a member seems to stand";
    all_are_refused(&[
        ("{\"a\": 1, // first \"b\": 2,\n \"c\": 3}", said),
        ("{\"a\": 1, # USD  \"sizes\": ['S', 'M'],\n \"d\": 2}", said),
        ("{'a': 1, # one, 'b': 2\n 'c': 3}", said),
        ("[\"a\", // first \"b\",\n \"c\"]", said),
        ("{'a': 1, # it's one, 'b': 2,\n 'c': 3}", said),
    ]);
    for text in [
        "{\"a\": 1, // \"b\": 2,\n}",
        "{\"a\": 1, // see \"b\": it is old\n}",
        "{'a': 1, # 'b': 2,\n}",
        "{'a': 1, # it's 'b': it's old\n}",
    ] {
        assert_eq!(read_value(text, Effort::Repair).unwrap().value, json!({"a": 1}), "{text}");
    }
}

#[test]
fn quotation_marks_that_were_escaped_twice_are_refused() {
    let said = "two backslashes before a quotation mark";
    all_are_refused(&[
        (r#"{"a": "He said \\"hi\\" there", "b": 1}"#, said),
        (r#"{"a": "He said \\"hi", "b": 1}"#, said),
    ]);
    let read = read_value(r#"{"a": "C:\\", "b": "x "y" z"}"#, Effort::Repair).unwrap();
    assert_eq!(read.value, json!({"a": "C:\\", "b": "x \"y\" z"}));
}

#[test]
fn a_name_that_stands_for_a_value_is_no_string() {
    for text in [
        "{\"name\": string, \"age\": int}",
        "{name: str}",
        "{\"a\": $value}",
        "{\"a\": [number]}",
        "{name: String, age: Number}",
        "{\"name\": string?}",
        "{\"name\": ____}",
    ] {
        let error = error(text);
        assert!(error.contains("a name that stands for a value"), "{text}: {error}");
    }
    let read = read_value("{a: stringy, b: $12.50, c: \"string\"}", Effort::Repair).unwrap();
    assert_eq!(read.value, json!({"a": "stringy", "b": "$12.50", "c": "string"}));
}

#[test]
fn a_list_in_a_list_that_a_brace_closes_may_have_one_bracket_too_many() {
    all_are_refused(&[("{\"a\": [[1, 2]}", "a bracket of the wrong kind")]);
    let read = read_value("{\"a\": [[1], [2]}", Effort::Repair).unwrap();
    assert_eq!(read.value, json!({"a": [[1], [2]]}));
}
