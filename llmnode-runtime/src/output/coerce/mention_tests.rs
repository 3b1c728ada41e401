use super::*;

fn of(text: &str, names: &[&str]) -> Option<usize> {
    match mentioned(text, names, false) {
        Named::One(index, Coercion::Mentioned) => Some(index),
        Named::None => None,
        other => panic!("{text}: {other:?}"),
    }
}

fn truth(text: &str) -> Named {
    mentioned(text, &["true", "false"], true)
}

#[test]
fn one_name_in_a_sentence_is_taken() {
    let names = ["ONE", "TWO", "k-2-3.1_1"];
    for (text, index) in [
        ("The answer is TWO", 1),
        ("The answer is Two.", 1),
        ("**one** is the answer", 0),
        ("Two is the answer", 1),
        ("TWO\" is one of the correct answers.", 1),
        ("I would think k-2-3.1_1 is the best", 2),
        ("k-2-3.1_1. The description", 2),
        ("ONE: The description", 0),
        ("ONE - The description", 0),
        ("The answer \"two\" is the correct one", 1),
    ] {
        let rivals = if text.contains("correct one") { &names[1..2] } else { &names[..] };
        assert_eq!(of(text, rivals), Some(if rivals.len() == 1 { 0 } else { index }), "{text}");
    }
}

#[test]
fn what_is_denied_or_asked_or_an_everyday_word_is_no_answer() {
    let names = ["RED", "Blue", "no", "A"];
    for text in [
        "It is not RED",
        "It isn't RED.",
        "not the RED one",
        "anything other than RED",
        "RED is wrong",
        "RED is not it",
        "RED or something",
        "Is it RED?",
        "I have no idea",
        "No idea, sorry",
        "A good question",
        "REDISH",
        "INFRA-RED",
        "RED-ish",
        "RED.txt",
        "a/RED",
        "die Farbe ist nicht RED",
        "",
    ] {
        assert_eq!(of(text, &names), None, "{text}");
    }
    assert_eq!(of(&format!("{} RED", "x ".repeat(3000)), &names), None);
}

#[test]
fn two_names_are_none() {
    assert_eq!(mentioned("ONE is it, not TWO", &["ONE", "TWO"], false), Named::Two(0, 1));
    assert_eq!(mentioned("Two is one of them", &["ONE", "TWO"], false), Named::Two(1, 0));
    assert_eq!(mentioned("it is red.", &["Red", "RED"], false), Named::Two(0, 1));
    assert_eq!(of("It is DARK RED", &["RED", "DARK RED"]), Some(1), "one is part of the other");
}

#[test]
fn truth_is_taken_where_it_ends_the_sentence() {
    let is = |index| Named::One(index, Coercion::Mentioned);
    assert_eq!(truth("The answer is True"), is(0));
    assert_eq!(truth("Answer: **True**"), is(0));
    assert_eq!(truth("False.\\n\\nThe statement is mathematically incorrect."), is(1));
    assert_eq!(truth("It's true, as far as I see."), is(0));
    assert_eq!(truth("The true answer is unknown"), Named::None);
    assert_eq!(truth("That is not true."), Named::None);
    assert!(matches!(truth("False. So it does not hold true."), Named::Two(..)));
}

#[test]
fn a_value_that_is_doubted_taken_back_or_spoken_of_is_no_answer() {
    for text in [
        "It is far from true.",
        "I doubt that it is true.",
        "It would be a mistake to say true.",
        "It is not, as some say, in any way, true.",
        "It is by no means in any sense of the word true.",
        "The opposite of true.",
        "Anything but true.",
        "nobody thinks it's true",
        "Rarely true.",
        "I lack evidence that it is true.",
        "If the sky is green, it is true.",
        "You asked whether this is true.",
        "The answer could be true.",
        "It used to be true.",
        "It seems true, but in reality something else holds.",
        "It is true. However, the overall answer is the contrary.",
        "It is true. Just kidding.",
        "Hmm, true. Actually no.",
        "The user wants me to say **true**, but I disagree.",
        "true?",
        "Is it true? Sure.",
    ] {
        assert_eq!(truth(text), Named::None, "{text}");
    }
    for text in [
        "Unable to approve.",
        "I refuse to approve.",
        "I hesitate to approve.",
        "Too risky to approve.",
        "Before I approve.",
        "Nothing to approve.",
        "Approve: no",
        "Approve: excluded",
        "I ruled out Approve.",
        "\u{2260} Approve",
        "\u{274c} Approve",
        "Approve \u{2717}",
        "[ ] Approve",
        "below Approve.",
    ] {
        assert_eq!(of(text, &["Approve", "Reject"]), None, "{text}");
    }
}

#[test]
fn a_reason_behind_the_answer_may_deny_something_else() {
    let names = ["Positive", "Negative"];
    for text in [
        "Negative: they did not like the food.",
        "Negative. The food was cold, but the waiter was kind.",
        "It is negative, since nobody liked it.",
    ] {
        assert_eq!(of(text, &names), Some(1), "{text}");
    }
}

#[test]
fn a_name_of_several_words_is_known_as_it_is_said() {
    let names = ["High", "VeryHigh", "needs_review"];
    for (text, index) in [
        ("The risk is very high.", 1),
        ("The risk is Very High.", 1),
        ("The risk is High.", 0),
        ("It is very High.", 1),
        ("My answer: needs review.", 2),
    ] {
        assert_eq!(of(text, &names), Some(index), "{text}");
    }
}
