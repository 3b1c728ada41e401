use super::*;

fn answer(text: &str) -> (String, Vec<Flag>) {
    let found = find_json(text, wanted(false)).unwrap_or_else(|error| panic!("{text}: {error}"));
    (found.json.to_string(), flags(&found.notes))
}

#[test]
fn json_in_thoughts_is_no_answer_and_no_rival() {
    for text in [
        "<think>{\"a\": 1} or {\"a\": 3}?</think>{\"a\": 2}",
        "<thinking>\n{\"a\": \n</thinking>\n\n{\"a\": 2}\n",
        "<REASONING>[1, 2</REASONING> {\"a\": 2}",
        "Hm.\n<think>x</think>\n<think>{\"a\": 3}</think> {\"a\": 2}",
        "The template wrote the opener. {\"a\": 1} [ 1, </think>{\"a\": 2}",
    ] {
        let (json, flags) = answer(text);
        assert_eq!((json.as_str(), flags[0]), ("{\"a\": 2}", Flag::AfterThinking), "{text}");
    }
    assert_eq!(answer("<think>x</think>\n\"yes\""), ("\"yes\"".to_owned(), vec![Flag::AfterThinking]));
    assert_eq!(
        answer("<think>a</think>\n```json\n[1,]\n```").1,
        [Flag::AfterThinking, Flag::Fenced, Flag::Repaired(crate::flag::Repair::Comma)]
    );
}

#[test]
fn a_tag_in_a_string_is_none() {
    for text in [
        "{\"a\": \"</think>\"}",
        "So: {\"a\": \"</think>\"}",
        "So: {\"a\": \"<think>\"} it is",
        "{'a': '<think>{}</think>',}",
        "```json\n{\"a\": \"</think>\", }\n```",
    ] {
        let (json, flags) = answer(text);
        assert!(json.contains("think") && !flags.contains(&Flag::AfterThinking), "{text}: {json}");
    }
}

#[test]
fn json_before_thoughts_is_a_rival_of_what_follows() {
    let error = find_json("{\"a\": 1} <think>no</think> {\"a\": 2}", wanted(true)).unwrap_err();
    assert!(error.to_string().starts_with("two different JSON values"), "{error}");
}

#[test]
fn thoughts_that_never_end_hold_no_answer() {
    let words = "the thinking that begins at line 2 column 1 never ends, so there is no answer; \
                 close it, and answer with one JSON value";
    assert_eq!(refused("\n<think>I take {\"a\": 1}"), words);
    assert_eq!(refused("<think>all thought</think>\n"), "the answer is empty; answer with one JSON value");
}
