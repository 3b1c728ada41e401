use super::*;
use crate::flag::Repair;

/// The value and the repairs, in the order of the first of each.
fn repaired(text: &str) -> Result<(Value, Vec<Repair>), String> {
    let read = read_value(text, Effort::Repair).map_err(|violations| violations[0].to_string())?;
    let repairs = read.notes.iter().filter_map(|note| match note.flag {
        Flag::Repaired(repair) => Some(repair),
        _ => None,
    });
    Ok((read.value, repairs.collect()))
}

#[test]
fn each_lossless_repair_is_made_and_flagged() {
    for (text, value, repairs) in [
        ("{'a': \"b\"}", json!({"a": "b"}), &[Repair::Quotes][..]),
        ("{“a”: ‘it’s’}", json!({"a": "it’s"}), &[Repair::Quotes, Repair::InnerQuote]),
        (
            "{\"a\": \"\"\"say \"so\"\n now\"\"\"}",
            json!({"a": "say \"so\"\n now"}),
            &[Repair::Quotes, Repair::ControlCharacter],
        ),
        ("{a: 1, 2: 2, null: 3, k-d: 4}", json!({"a": 1, "2": 2, "null": 3, "k-d": 4}), &[Repair::BareKey]),
        ("{\"a\": 1, some key: \"b\"}", json!({"a": 1, "some key": "b"}), &[Repair::BareKey]),
        ("{\"a\": hello world!}", json!({"a": "hello world!"}), &[Repair::BareString]),
        (
            "{\"a\": https://b.c/d?e=f&g=(h)#i, \"j\": 1}",
            json!({"a": "https://b.c/d?e=f&g=(h)#i", "j": 1}),
            &[Repair::BareString],
        ),
        ("[\na,\nb\n]", json!(["a", "b"]), &[Repair::BareString]),
        ("[True, False, None, NULL]", json!([true, false, null, null]), &[Repair::Literal]),
        ("[1, 2,]", json!([1, 2]), &[Repair::Comma]),
        ("{,\"a\": 1,, \"b\": 2}", json!({"a": 1, "b": 2}), &[Repair::Comma]),
        ("{\"a\": 1},", json!({"a": 1}), &[Repair::Comma]),
        ("{\"a\": 1, // one\n # two\n \"b\": /* 3 */ 2}", json!({"a": 1, "b": 2}), &[Repair::Comment]),
        ("/* a */ {} // b", json!({}), &[Repair::Comment]),
        ("{\"a\": \"x\ty\nz\"}", json!({"a": "x\ty\nz"}), &[Repair::ControlCharacter]),
        ("{\"a\": \"it\\'s\"}", json!({"a": "it's"}), &[Repair::Escape]),
        ("{\"a\":\u{a0}1,\u{feff}\"b\": 2}", json!({"a": 1, "b": 2}), &[Repair::Space]),
        ("{\"a\" \"b\"}", json!({"a": "b"}), &[Repair::Colon]),
        ("{\"a\": {\"b\": \"c\"}", json!({"a": {"b": "c"}}), &[Repair::Closer]),
        ("{{\"a\": [1]}}", json!({"a": [1]}), &[Repair::Closer]),
        ("{\"a\": 1\n \"b\": \"x\"\n \"c\": true\n}", json!({"a": 1, "b": "x", "c": true}), &[Repair::Comma]),
        (
            "{\"a\": {\"b\": 1}\n\"c\": []\nd: null}",
            json!({"a": {"b": 1}, "c": [], "d": null}),
            &[Repair::Comma, Repair::BareKey],
        ),
        ("[{\"a\": 1}\n{\"a\": 2}]", json!([{"a": 1}, {"a": 2}]), &[Repair::Comma]),
        ("{u'a': u\"b\", u'c': 1}", json!({"a": "b", "c": 1}), &[Repair::Quotes]),
        ("{\"a\": [1, 2}", json!({"a": [1, 2]}), &[Repair::Closer]),
        (
            "{\"a\": 1, \"b\": {\"c\": 2, \"c\": 2,}}",
            json!({"a": 1, "b": {"c": 2}}),
            &[Repair::Comma, Repair::DuplicateKey],
        ),
        ("callback({\"a\": 1});", json!({"a": 1}), &[Repair::Call]),
        ("callback({}", json!({}), &[Repair::Call, Repair::Closer]),
        ("[+1, .5, -2., 1e3]", json!([1, 0.5, -2.0, 1e3]), &[Repair::Number]),
        ("{\"a\": \"he said \"yes\" to me\"}", json!({"a": "he said \"yes\" to me"}), &[Repair::InnerQuote]),
        (
            "{\"a\": \"the 5\"6 mark\", \"b\": 1}",
            json!({"a": "the 5\"6 mark", "b": 1}),
            &[Repair::InnerQuote],
        ),
        (
            "{'a': 'it's the dogs' home'}",
            json!({"a": "it's the dogs' home"}),
            &[Repair::Quotes, Repair::InnerQuote],
        ),
        (
            "{\"a\": \"first, b: \"second\"}",
            json!({"a": "first", "b": "second"}),
            &[Repair::MissingQuote, Repair::BareKey],
        ),
        ("{\"a\": \"first, b: 2}", json!({"a": "first", "b": 2}), &[Repair::MissingQuote, Repair::BareKey]),
    ] {
        assert_eq!(repaired(text), Ok((value, repairs.to_vec())), "{text}");
        let strictly = find_json(text, Wanted { object: false, repaired: false });
        assert!(strictly.is_err() || text.ends_with([',', 'b', ';']), "{text}: {strictly:?}");
    }
}

#[test]
fn what_could_lose_or_change_something_is_refused_with_its_place() {
    for (text, said) in [
        ("{\"a\": 012}", "line 1 column 7: a number may not begin with 0"),
        ("{\"a\": 1_000}", "line 1 column 7: this is no number of JSON"),
        ("{\"a\": 1/3}", "line 1 column 8: expected a comma or the end"),
        ("{\"a\": 1,000}", "column 9: expected a key in quotes"),
        ("{\"a\": 0x10}", "column 7: JSON has no numbers but decimal ones"),
        ("{\"a\": NaN}", "column 7: JSON has no such number"),
        ("{\"a\": -Infinity}", "column 7: this is no number of JSON"),
        ("{\"a\": undefined}", "column 7: JSON has no `undefined`"),
        ("{\"a\": }", "column 7: the value is missing"),
        ("{\"a\":,\n\"b\": 1}", "column 6: the value is missing"),
        ("{some key: \"b\"}", "column 7: expected a colon after the key"),
        ("{: 1}", "column 2: the key is missing"),
        ("[1,, 2]", "column 4: nothing stands between two commas"),
        ("[\"a\", ...]", "column 7: an ellipsis stands for what was left out"),
        ("{\"a\": 1, ...}", "column 10: an ellipsis stands for what was left out"),
        ("{'a': \"\\ud800\"}", "column 8: half a surrogate pair"),
        ("{'a': \"\\u26\"}", "column 8: four hexadecimal digits must follow `\\u`"),
        ("{\"a\": \"C:\\dir\"}", "column 10: JSON has no such escape"),
        (
            "{\"a\": 1, 'a': 2}",
            "line 1 column 1: the key \"a\" stands twice in one object, with different values",
        ),
        ("[\"a\" \"b\"]", "column 4: two quotation marks with nothing between them"),
        ("[\"a\": 1]", "column 4: a quotation mark before a colon"),
        ("{\"a\": \"b\": 1}", "column 9: a quotation mark before a colon"),
        ("{\"a\": \"b\", c\": 1}", "column 13: a quotation mark before a colon"),
        ("{\"a\": b\", \"c\": 1}", "column 8: a quotation mark in a string without quotes"),
        ("{\"a\": \"x \"y z\"}", "column 10: a quotation mark that may end the string or belong to it"),
        ("{\"a\": \"x\n\", \"b\": 1}", "a line end before the quotation mark"),
        ("{\"a\": (1, 2)}", "column 7: expected a value"),
        ("{\"a\": ObjectId(1)}", "a string with such characters must stand in quotes"),
        ("{\"a\": \"b\" + \"c\"}", "a quotation mark"),
        ("{\"a\": [{\"b\": 1], \"c\": 2}", "expected `}` before `]`"),
        ("{\"a\": [1}, \"c\": 2}", "column 9: a bracket of the wrong kind"),
        ("{\"a\": 1}foo", "the text at line 1 column 9 follows the JSON as if that went on"),
        ("{\"a\": 1}, \"b\": 2}", "the text at line 1 column 11 follows the JSON as if that went on"),
        ("{\"a\": \"use \"}\" to close\"}", "as if that went on"),
        ("{\"a\": {\"b\": 1}, \"c\": 2}}", "line 1 column 24 follows the JSON as if that went on"),
        ("{\"a\": 1}, {\"a\": 1}", "line 1 column 11 follows the JSON as if that went on"),
        ("[{]\"a\": 1}, {\"a\": 2}]", "the JSON at line 1 column 13 seems to be a part of more"),
        ("take {} for it", "the empty value at line 1 column 6 among other text is not taken"),
    ] {
        let error = repaired(text).unwrap_err();
        assert!(error.contains(said), "{text}: {error}");
        assert!(!error.contains('\n'), "{text}: {error}");
    }
    let deep = format!("{}1,{}", "[".repeat(128), "]".repeat(128));
    assert!(repaired(&deep).unwrap_err().contains("column 128: too deep: JSON may be nested 127 times"));
    assert!(repaired(&format!("{}1,{}", "[".repeat(127), "]".repeat(127))).is_ok());
}

#[test]
fn what_breaks_off_is_refused() {
    for text in [
        "{\"a\": \"b",
        "{\"a\": [\"b\"",
        "[1, 2",
        "[{\"a\": 1}",
        "{\"a\": 1",
        "{\"a\": tru",
        "{\"a\": true",
        "{\"a\": b",
        "{\"a\": \"b\",",
        "{\"a\": \"b\", \"c",
        "{\"a\": \"b\", \"c\"",
        "{\"a\": \"b\", \"c\":",
        "{\"a\": {",
        "{\"a\": \"\\",
        "{\"a\": \"\\u00",
        "{'a': 'b",
        "{\"a\": \"\"\"b\"",
        "{",
        "['a', ",
        "{a: \"first, b: 1",
        "foo [",
        "{\"a\": \"first, b: pro",
    ] {
        let error = repaired(text).unwrap_err();
        assert!(error.contains("is not complete; it ends in"), "{text}: {error}");
    }
}

#[test]
fn bare_scalars_are_not_repaired() {
    for text in
        ["True", "'a'", "abc", "\"abc\u{0}\"", "“a”", "]", "/", "1,", ".5", "a, b", "\"a\" + \"b\"", "(1)"]
    {
        assert_eq!(repaired(text).unwrap_err(), "no JSON in the answer", "{text}");
    }
}

#[test]
fn a_repaired_value_and_another_one_are_no_answer() {
    for text in [
        "{'a': 1} or {\"a\": 2}",
        "{\"a\": 1} or {'a': 2}",
        "```\n{'a': 1}\n```\n```\n{a: 2}\n```",
        "{'a': 1}\n{'a': 2}",
    ] {
        assert!(repaired(text).unwrap_err().starts_with("two different JSON values"), "{text}");
    }
    assert_eq!(repaired("{'a': 1} and {\"a\": 1}"), Ok((json!({"a": 1}), vec![Repair::Quotes])));
}

#[test]
fn brackets_in_prose_are_no_rivals() {
    for text in [
        "I use {braces}, [the docs](url), [x, y] and {{this}}: {'name': 'a'}",
        "see [link]s list[0], {1}, [2]:  {\"name\": \"a\", }",
        "{```json\n{\"name\": \"a\",}\n```}",
    ] {
        assert_eq!(of::<Item>(text).unwrap().value, item("a", 0), "{text}");
    }
}

#[test]
fn a_note_says_where_first_and_how_often() {
    let read = read_value("Here:\n{'a': 1,\n b: 'c'}", Effort::Repair).unwrap();
    let told: Vec<_> = read.notes.iter().map(|note| (note.flag, note.place.as_str(), note.times)).collect();
    assert_eq!(
        told,
        [
            (Flag::InProse, "line 2 column 1", 1),
            (Flag::Repaired(Repair::Quotes), "line 2 column 2", 2),
            (Flag::Repaired(Repair::BareKey), "line 3 column 2", 1)
        ]
    );
}

#[test]
fn what_is_json_is_serde_jsons_value_also_with_a_key_twice() {
    assert_eq!(repaired("[{\"a\": 1, \"a\": 2}]"), Ok((json!([{"a": 2}]), vec![])));
    assert_eq!(repaired("```\n[{\"a\": 1, \"a\": 2}]\n```"), Ok((json!([{"a": 2}]), vec![])));
    assert_eq!(repaired("{\"value\": 1}"), Ok((json!({"value": 1}), vec![])), "nothing is unwrapped");
}

#[test]
fn a_text_over_16_mib_is_only_read_as_it_stands() {
    let mut text = format!("[{}\"a\"]", " ".repeat(16 << 20));
    assert!(repaired(&text).is_ok());
    text.insert(text.len() - 1, ',');
    assert!(repaired(&text).unwrap_err().contains("too long to look for JSON in it (over 16 MiB)"));
}
