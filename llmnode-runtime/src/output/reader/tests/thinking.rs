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
    let words = "the thinking that begins at line 2 column 1 never ends, so there is no answer";
    assert_eq!(refused("\n<think>I take {\"a\": 1}"), words);
    assert_eq!(refused("<think>all thought</think>\n"), "the answer is empty");
}

#[test]
fn the_marks_of_other_models_are_known_as_well() {
    for text in [
        "◁think▷{\"a\": 1}◁/think▷{\"a\": 2}",
        "[THINK]{\"a\": 1} [1, 2[/THINK]{\"a\": 2}",
        "<|think|>{\"a\": 1}<|/think|>{\"a\": 2}",
        "<|think|>{\"a\": 1}<|end|><|begin|>assistant<|content|>{\"a\": 2}",
        "<seed:think>{\"a\": 1}</seed:think>{\"a\": 2}",
        "<think:open_source>{\"a\": 1}</think:open_source>\n{\"a\": 2}",
        "<antThinking>{\"a\": 1}</antThinking>{\"a\": 2}",
        "<|START_THINKING|>{\"a\": 1}<|END_THINKING|>{\"a\": 2}",
        "<|begin_of_thought|>{\"a\": 1}<|end_of_thought|>{\"a\": 2}",
        "<|think_start|>{\"a\": 1}<|think_end|>{\"a\": 2}",
        "<|inner_prefix|>{\"a\": 1}<|inner_suffix|>{\"a\": 2}",
        "<|open|>think<|sep|>{\"a\": 1}<|close|>think<|sep|>{\"a\": 2}",
        "<|channel>thought\n{\"a\": 1}<channel|>{\"a\": 2}",
        "<unused94>thought\n{\"a\": 1}<unused95>{\"a\": 2}",
        "The template began it. {\"a\": 1}◁/think▷{\"a\": 2}",
        "{\"a\": 1} [/THINK]{\"a\": 2}",
    ] {
        let (json, flags) = answer(text);
        assert_eq!((json.as_str(), flags[0]), ("{\"a\": 2}", Flag::AfterThinking), "{text}");
    }
    for text in ["◁think▷I take {\"a\": 1}", "[THINK]{\"a\": 1}", "<|think|>{\"a\": 1}<|end|>"] {
        assert!(refused(text).contains("never ends"), "{text}");
    }
    assert_eq!(answer("{\"a\": \"[THINK]\", \"b\": [1]}").0, "{\"a\": \"[THINK]\", \"b\": [1]}");
    assert_eq!(answer("So: {\"a\": \"[THINK] ◁think▷\"}").1, [Flag::InProse]);
}

#[test]
fn of_several_channels_the_final_one_has_the_answer() {
    let analysis = "<|channel|>analysis<|message|>{\"a\": 1}?<|end|><|start|>assistant";
    for (text, json) in [
        (format!("{analysis}<|channel|>final<|message|>{{\"a\": 2}}"), "{\"a\": 2}"),
        (format!("{analysis}<|channel|>final <|constrain|>json<|message|>[1]<|return|>"), "[1]"),
        (format!("<|start|>assistant{analysis}<|channel|>final<|message|>42<|return|>\n"), "42"),
        (
            format!(
                "{analysis}<|channel|>commentary to=functions.f <|constrain|>json<|message|>{{\"b\": 3}}<|call|>\
                 <|start|>assistant<|channel|>final<|message|>{{\"a\": 2}}"
            ),
            "{\"a\": 2}",
        ),
        ("{\"a\": 1}<|end|><|start|>assistant<|channel|>final<|message|>{\"a\": 2}".to_owned(), "{\"a\": 2}"),
    ] {
        let (found, flags) = answer(&text);
        assert_eq!((found.as_str(), &flags[..]), (json, &[Flag::AfterThinking][..]), "{text}");
    }
    assert!(refused(analysis).contains("never ends"));
    assert!(
        refused("<|channel|>commentary to=functions.f<|message|>{\"b\": 3}<|call|>").contains("never ends")
    );
    // A mark that is perhaps in a string of broken JSON is looked at once.
    let _ = find_json("{\"a\": 012, \"b <|start|>assistant<|channel|>analysis c\": 1}", wanted(false));
    let _ = find_json(&"<|channel|>".repeat(40_000), wanted(false));
    let _ = find_json(&"{\"a\": 1 <|start|>assistant<|channel|>x\", ".repeat(10_000), wanted(false));
}
