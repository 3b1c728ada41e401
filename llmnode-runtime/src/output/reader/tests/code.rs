//! What stands in code or among words, and is not the answer.

use super::*;

fn value(text: &str) -> Result<Value, String> {
    let read = read_value(text, Effort::Repair).map(|read| read.value);
    let strict = read_value(text, Effort::Strict).map(|read| read.value);
    assert!(strict.is_err() || read.is_err() || strict == read, "{text}");
    read.map_err(|violations| violations[0].to_string())
}

#[test]
fn json_within_code_is_no_answer() {
    for text in [
        "f(city=\"x\", opts={\"a\": 1})",
        "let x = {\"a\": 1};",
        "```python\nx = {'a': 1}\nprint(x)\n```",
        "x := {\"a\": 1}",
        "type X =\n{\n  name: string\n}",
        "foo({\"a\": 1}, 2)",
        "I call foo(2, {\"a\": 1}) now.",
        "cb1(cb2({\"a\": 1}));",
        "JSON.parse('{\"a\": 1}')",
        "-{\"a\": 1}",
        "The diff:\n-{\"a\": 1}\n",
        "foo([1, 2]) gives 3",
        "let x = json!({\"a\": 1, \"b\": [2]});",
        "const {a} = {\"a\": 1};",
    ] {
        let error = value(text).unwrap_err();
        assert!(error.contains("stands within code"), "{text}: {error}");
        assert!(read_value(text, Effort::Strict).is_err(), "{text}");
    }
    for text in [
        "return {\"a\": 1};",
        "return '{\"a\": 1}'",
        "$ echo '{\"a\": 1}' | jq .a",
        "\"x\" = {\"a\": 1}",
        "curl -X POST -d '{\"a\": 1}' localhost",
        "curl --data-raw \"{'a': 1}\" localhost",
        "```js\nexport default { a: 1 };\n```",
        "<div data-x='{\"a\": 1}'></div>",
        "get{\"a\": 1}",
        "[TOOL_CALLS]get{\"a\": 1}",
        "Point{x: 1, y: 2}",
        "```sh\ncurl -d '{\"a\": 1}' localhost\n```",
        "```sql\nSELECT '{\"a\": 1}'::jsonb;\n```",
        "Run this:\n```css\n.a { color: red, margin: 0 }\n```",
    ] {
        let error = value(text).unwrap_err();
        assert!(error.contains("stands within code"), "{text}: {error}");
    }
    for text in [
        "I return {\"a\": 1}",
        "json{\"a\": 1}",
        "So:\\n{\"a\": 1}",
        "```sh\nls\n```\nprints {\"a\": 1}",
        "```python\n# so\n{\"a\": 1}\n```",
        "callback({\"a\": 1});",
        "As asked (in JSON): {\"a\": 1}",
        "Call it (see above, {\"a\": 1}).",
        "The result of f(x) is {\"a\": 1}",
        " - {\"a\": 1}",
        "Result => {\"a\": 1}",
        "- '{\"a\": 1}'",
        "I echo '{\"a\": 1}'",
        "Well - '{\"a\": 1}'",
        "x == {\"a\": 1}",
    ] {
        assert_eq!(value(text), Ok(json!({"a": 1})), "{text}");
    }
    assert_eq!(of::<Item>("With f([1]) and x = [2]: {\"name\": \"a\"}").unwrap().value, item("a", 0));
}

#[test]
fn an_index_is_no_list() {
    for text in ["`body['string']` is empty", "$[\"a\"]", "f(x)[0]", "a[0][1]"] {
        assert!(value(text).unwrap_err().contains("no JSON in the answer"), "{text}");
    }
    assert_eq!(value("[TOOL_CALLS][{\"a\": 1}]"), Ok(json!([{"a": 1}])));
    assert!(value("[1][2]").unwrap_err().starts_with("two different JSON values"));
}

#[test]
fn words_in_braces_are_an_object_only_on_lines_of_their_own() {
    for text in [
        "Use the type {name: text}",
        "body {color: red}",
        "function f() {return: x}",
        "I mean {a: b, c: d} here.",
        "Use the type {name: string, tags: [string], at: {city: string}}",
        "rollback: {registry: Registry, snapshot: EntitySnapshot}",
    ] {
        assert!(value(text).unwrap_err().contains("the words in braces at line 1"), "{text}");
    }
    for text in [
        "{a: b} is the output.",
        "{a: b}",
        "So:\n{a: b}\nDone.",
        "```\n{a: b}\n```",
        "Here it is: {a: \"b\"}",
        "Of the type {name: string}:\n{\"a\": \"b\"}",
    ] {
        assert_eq!(value(text), Ok(json!({"a": "b"})), "{text}");
    }
}

#[test]
fn a_member_without_its_object_is_no_answer() {
    for text in [
        "\"items\": [1, 2],",
        "\"b\": 2, \"c\": {\"d\": 3}",
        "See:\n  \"a\": {\"b\": 1}\n",
        "- name: Ann\n- tags: [\"a\"]",
        "* name: Ann\n* address: {\"city\": \"X\"}",
    ] {
        assert!(value(text).unwrap_err().contains("seems to be a part of more"), "{text}");
    }
    for text in ["The \"answer\": {\"a\": 1}", "- name: Ann\n- answer: {\"a\": 1}", "- data: {\"a\": 1}"] {
        assert_eq!(value(text), Ok(json!({"a": 1})), "{text}");
    }
}

#[test]
fn an_argument_in_tags_is_not_the_whole_call() {
    for text in [
        "<function=save>\n<parameter=item>\n{\"a\": 1}\n</parameter>\n<parameter=n>\n3\n</parameter>\n</function>",
        "<invoke name=\"save\"><parameter name=\"items\">[1, 2]</parameter></invoke>",
        "<tool_call>save\n<arg_key>item</arg_key>\n<arg_value>{'a': 1}</arg_value>\n</tool_call>",
    ] {
        assert!(value(text).unwrap_err().contains("seems to be a part of more"), "{text}");
    }
    for text in ["<parameters>{\"a\": 1}</parameters>", "<answer>\n{\"a\": 1}\n</answer>"] {
        assert_eq!(value(text), Ok(json!({"a": 1})), "{text}");
    }
}

#[test]
fn a_further_value_behind_a_comma_is_no_prose() {
    for text in [
        "{\"a\": 1}.get(\"a\")",
        "[1, 2].map(f)",
        "{\"a\": 1}, 123",
        "{\"a\": 1}, true",
        "{'a': 1}, null\n",
        "[1], 2, 3",
    ] {
        assert!(value(text).unwrap_err().contains("follows the JSON as if that went on"), "{text}");
    }
    assert_eq!(value("{\"a\": 1}, 2 of which I know"), Ok(json!({"a": 1})));
}

#[test]
fn a_line_comment_that_hides_a_member_is_refused() {
    for text in [
        "{\"a\": \"x\" // first, \"b\": \"y\"}",
        "{\"a\": 1 // \"b\": 2}",
        "{\"a\": 1, // one, \"b\": 2,\n \"c\": 3}",
        "{\"a\": 1, # one, \"b\": 2,\n \"c\": 3}",
    ] {
        let error = value(text).unwrap_err();
        assert!(error.contains("a comment in which a member seems to stand"), "{text}: {error}");
    }
    for text in [
        "{\n// \"b\": 2,\n\"a\": 1}",
        "{\"a\": 1 // as in {\"b\": 2}\n}",
        "{\"a\": 1 /* first, \"b\": 2 */}",
        "{\"a\": 1 // the \"one\"\n}",
        "{\"a\": 1} // with \"b\": 2",
    ] {
        assert_eq!(value(text), Ok(json!({"a": 1})), "{text}");
    }
}

#[test]
fn a_comment_that_never_ends_is_passed_over_where_nothing_of_json_stands_in_it() {
    assert_eq!(value("{\"a\": 1} /* more"), Ok(json!({"a": 1})));
    assert_eq!(value("{\"a\": \"b\" /* more"), Ok(json!({"a": "b"})));
    for text in ["{\"a\": 1 /* \"b\": 2}", "{\"a\": 1, /* b: [2]", "{\"a\": 1 /* one\n}"] {
        let error = value(text).unwrap_err();
        assert!(error.contains("a comment in which a member seems to stand"), "{text}: {error}");
    }
}

#[test]
fn what_is_missing_is_read_only_where_nothing_else_is_guessed() {
    for text in [
        "{\"a\": 1 \"b\": 2}",
        "{\"a\": \"x\" \"b\": 2}",
        "[\"a\"\n\"b\"]",
        "[1\n2]",
        "[{\"a\": 1} {\"a\": 2}]",
        "{\"a\": {\"b\": 1\n\"c\": \"d\"}",
        "[{\"a\": 1}\n{\"a\": 2}}",
        "{\"a\": \"say \"so\"\n\"b\": 1}",
        "{\"a\": word\n\"b\": 1}",
        "{]",
        "[}",
    ] {
        value(text).unwrap_err();
    }
}

#[test]
fn where_a_string_has_no_end_several_words_are_no_value() {
    assert_eq!(value("{\"a\": \"first, b: 2}"), Ok(json!({"a": "first", "b": 2})));
    value("{\"a\": \"Hello, re: yes, of course}").unwrap_err();
    value("{\"a\": \"Hello, re: the file}").unwrap_err();
}

#[test]
fn doubled_braces_are_read_only_around_all() {
    assert_eq!(value("```\n{{\"a\": 1}}\n```"), Ok(json!({"a": 1})));
    for text in
        ["{{\"a\": {\"b\": 1}}}", "{{\"a\": \"{{b}}\"}}", "Use {{\"a\": 1}} here", "{{\"a\": 1}", "{{a}}"]
    {
        value(text).unwrap_err();
    }
}

#[test]
fn numbers_that_only_a_float_makes_equal_are_rivals() {
    let error = value("{\"a\": 9007199254740993} or {\"a\": 9007199254740992}").unwrap_err();
    assert!(error.starts_with("two different JSON values"), "{error}");
    assert!(value("{\"a\": 1.50, \"b\": 1} and {\"b\": 1, \"a\": 15e-1}").is_ok());
}

#[test]
fn a_part_of_lines_of_members_is_no_answer() {
    for text in [
        "name: Ann\ntags: [\"a\", \"b\"]",
        "- name: Ann\n  address: {\"city\": \"Rome\"}",
        "tags\": [\"a\"]",
        "the rest: b\", \"tags\": [\"a\", \"b\"]",
    ] {
        let error = value(text).unwrap_err();
        assert!(error.contains("seems to be a part of more"), "{text}: {error}");
    }
    for text in ["tags: [\"a\"]}", "name: \"b\",\ntags: [\"a\"],\n}", "2}, {\"a\": 3}]", "{\"a\": 1} 'b': 2}"]
    {
        let error = value(text).unwrap_err();
        assert!(error.contains("as if that went on") || error.contains("a part of more"), "{text}: {error}");
    }
    // What ends with a mark of several bytes, as its brace is missing.
    assert_eq!(value("{\"a\": “b”"), Ok(json!({"a": "b"})));
    for text in ["reason: it is so\nanswer: [1]", "Tags: [1]", "Name: Ann\nTags: [1]", "[1]]"] {
        assert_eq!(value(text), Ok(json!([1])), "{text}");
    }
}
