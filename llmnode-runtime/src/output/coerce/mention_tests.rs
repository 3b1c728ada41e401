use super::*;

/// What a text says is the answer, of names like `Red|Blue`.
fn of<'n>(names: &'n str, text: &str) -> Result<&'n str, Option<(&'n str, &'n str)>> {
    let names: Vec<&str> = names.split('|').collect();
    match mentioned(text, &names, names == ["true", "false"]) {
        Named::One(index, Coercion::Mentioned) => Ok(names[index]),
        Named::Two(first, second) => Err(Some((names[first], names[second]))),
        Named::None => Err(None),
        other => panic!("{text}: {other:?}"),
    }
}

const COLOURS: &str = "Red|Green|Blue";
const MOODS: &str = "Positive|Negative|Neutral";
const LEVELS: &str = "Low|High|VeryHigh";
const YES: &str = "Yes|No|Unsure";
const TRUTH: &str = "true|false";
const ACTS: &str = "Approve|Reject|needs_review";
const KEYS: &str = "k1|k-2-3.1_1|NUMBER THREE";
const KINDS: &str = "Bug|Feature|Other|None";
const STATES: &str = "Open|Closed|May";
const SMALL: &str = "simple|complex";
const LETTERS: &str = "A|B|C|D";

/// Sentences that say which name is the answer.
const SAID: &[(&str, &str, &str)] = &[
    // The name alone.
    (COLOURS, "Red\n\nIt is the colour of a tomato.", "Red"),
    (COLOURS, "**Red**\nTomatoes have this colour.", "Red"),
    (COLOURS, "`red`. Tomatoes have this colour.", "Red"),
    (COLOURS, "Red! Like a tomato.", "Red"),
    (COLOURS, "The tomato in the picture is ripe.\n\n**Red**", "Red"),
    (COLOURS, "The tomato in the picture is ripe.\nRed", "Red"),
    (COLOURS, "The tomato is ripe. Therefore, Red.", "Red"),
    (COLOURS, "Sure! Red. That is the colour of a tomato.", "Red"),
    (COLOURS, "Okay, Red.", "Red"),
    (MOODS, "Negative. The food was cold, but the waiter was kind.", "Negative"),
    (MOODS, "Negative.\\n\\nThe customer did not like the soup.", "Negative"),
    (TRUTH, "False.\\n\\nThe statement \"2 + 2 = 5\" is mathematically incorrect. It is 4, not 5.", "false"),
    (TRUTH, "False. That is not how sums work.", "false"),
    (TRUTH, "TRUE\n\n4 is divisible by 2.", "true"),
    (YES, "No. It does not mention a price.", "No"),
    (YES, "No. There is no price in it.", "No"),
    (YES, "Yes.\nThe mail asks for a password.", "Yes"),
    (LEVELS, "Very high. Data may be lost.", "VeryHigh"),
    (LEVELS, "VERY_HIGH\n\nData is lost.", "VeryHigh"),
    (KINDS, "None. I could not find any.", "None"),
    (KINDS, "Other. The mail asks for a refund.", "Other"),
    (LETTERS, "A. Paris", "A"),
    (LETTERS, "B. Because Paris is the capital.", "B"),
    (KEYS, "k-2-3.1_1. The description of enum value deux", "k-2-3.1_1"),
    // And what explains it.
    (COLOURS, "Red: the colour of a tomato", "Red"),
    (COLOURS, "Red - this is the colour of a tomato", "Red"),
    (COLOURS, "**Red** – it looks like a tomato", "Red"),
    (COLOURS, "Red — because a tomato has it.", "Red"),
    (COLOURS, "Red, since it is a tomato.", "Red"),
    (COLOURS, "Red because it is a tomato.", "Red"),
    (MOODS, "Negative: they did not like the food.", "Negative"),
    (YES, "Yes, it asks for a password.", "Yes"),
    (YES, "No, the mail is harmless.", "No"),
    (TRUTH, "True, because 4 is even.", "true"),
    (TRUTH, "False: this is not an even number.", "false"),
    (KEYS, "k1: The description of enum value une", "k1"),
    (KEYS, "k-2-3.1_1 The description of enum value deux", "k-2-3.1_1"),
    ("ONE|TWO", "ONE - The description of an enum value", "ONE"),
    // The answer is ..
    ("ONE|TWO", "The answer is One", "ONE"),
    ("ONE|TWO", "The answer is TWO", "TWO"),
    ("TWO", "The ansewr \"TWO\" is the correct one", "TWO"),
    (COLOURS, "The answer is RED.", "Red"),
    (COLOURS, "The answer is blue.", "Blue"),
    (COLOURS, "The answer is: Blue", "Blue"),
    (COLOURS, "The answer is **blue**. It is the sky.", "Blue"),
    (COLOURS, "The answer's Blue.", "Blue"),
    (COLOURS, "My answer would be Blue.", "Blue"),
    (COLOURS, "My final answer is Blue", "Blue"),
    (COLOURS, "The most likely answer is Blue.", "Blue"),
    (COLOURS, "The correct choice should be Blue.", "Blue"),
    (COLOURS, "Answer: Blue", "Blue"),
    (COLOURS, "**Answer:** Blue", "Blue"),
    (COLOURS, "**Final answer**: `Blue`", "Blue"),
    (COLOURS, "## Answer\n\nBlue", "Blue"),
    (COLOURS, "The answer is:\n\n**Blue**", "Blue"),
    (COLOURS, "Final answer:\nBlue\n", "Blue"),
    (COLOURS, "The sky is clear\nAnswer: Blue", "Blue"),
    (COLOURS, "I considered Red and Blue. The answer is Blue.", "Blue"),
    (COLOURS, "So the answer is Blue.", "Blue"),
    (COLOURS, "Therefore, my choice is Blue, because the sky has it.", "Blue"),
    (COLOURS, "In conclusion, the output is Blue.", "Blue"),
    (COLOURS, "Based on the given description, the answer is Blue.", "Blue"),
    (COLOURS, "The answer to your question is Blue.", "Blue"),
    (COLOURS, "I believe the answer is Blue.", "Blue"),
    (COLOURS, "Result: Blue\nReason: the sky has this colour.", "Blue"),
    (COLOURS, "Verdict: Blue - the colour of the sky", "Blue"),
    (TRUTH, "The answer is true", "true"),
    (TRUTH, "The answer is True", "true"),
    (TRUTH, "The answer is true. 4 is even.", "true"),
    (TRUTH, "The tax return has a section for dependents.\n\nAnswer: **True**", "true"),
    (YES, "The answer is no.", "No"),
    (YES, "The answer is yes. It asks for a password.", "Yes"),
    (MOODS, "The sentiment is positive. The customer praises the soup.", "Positive"),
    (MOODS, "The overall sentiment is Negative.", "Negative"),
    (MOODS, "The sentiment of this review is negative.", "Negative"),
    (MOODS, "The customer complains. Overall, the sentiment is negative.", "Negative"),
    (MOODS, "Sentiment: Neutral", "Neutral"),
    (MOODS, "The classification is neutral", "Neutral"),
    (LEVELS, "My rating: very high", "VeryHigh"),
    (LEVELS, "The rating is Very High.", "VeryHigh"),
    (ACTS, "My decision: needs review.", "needs_review"),
    (ACTS, "My recommendation is to_review. The decision is Reject.", "Reject"),
    (SMALL, "The answer is simple.", "simple"),
    (SMALL, "Category: simple\nReason: it has one part.", "simple"),
    (STATES, "Answer: open", "Open"),
    // It is ..
    (COLOURS, "It is blue.", "Blue"),
    (COLOURS, "It's Blue!", "Blue"),
    (COLOURS, "This is Blue.", "Blue"),
    (COLOURS, "That would be Blue.", "Blue"),
    (COLOURS, "So it is Blue.", "Blue"),
    (COLOURS, "The sky is clear. So it is Blue.", "Blue"),
    (MOODS, "It is Negative, since nobody liked it.", "Negative"),
    (MOODS, "This is Negative. The customer is angry.", "Negative"),
    (LEVELS, "It is very high.", "VeryHigh"),
    ("RED|DARK RED", "It is DARK RED", "DARK RED"),
    (TRUTH, "It's true.", "true"),
    (TRUTH, "It is true because 4 is even.", "true"),
    // I would say ..
    (COLOURS, "I would say Blue.", "Blue"),
    (COLOURS, "I'd say Blue", "Blue"),
    (COLOURS, "I'd go with Blue.", "Blue"),
    (COLOURS, "I\u{2019}ll go with **blue**.", "Blue"),
    (COLOURS, "I'm going with Blue.", "Blue"),
    (COLOURS, "I choose Blue!", "Blue"),
    (COLOURS, "I think it is Blue.", "Blue"),
    (COLOURS, "I would say that it's Blue.", "Blue"),
    (COLOURS, "I would say it is blue.", "Blue"),
    (COLOURS, "I would choose Blue because the sky has it.", "Blue"),
    (COLOURS, "I would recommend Blue, given the weather.", "Blue"),
    (COLOURS, "Okay, so I think Blue is the best choice.", "Blue"),
    (MOODS, "I would classify this as Negative.", "Negative"),
    (MOODS, "I would label it Negative.", "Negative"),
    (MOODS, "I classify the text as Negative.", "Negative"),
    (LEVELS, "I would rate this review High.", "High"),
    (ACTS, "I recommend Reject.", "Reject"),
    (KEYS, "I would think k-2-3.1_1 is the best", "k-2-3.1_1"),
    (KEYS, "k1 is ok! k-2-3.1_1 is better. I would advise k-2-3.1_1!", "k-2-3.1_1"),
    // .. is the answer.
    ("ONE|TWO", "**one** is the answer", "ONE"),
    ("One|Two", "**ONE** is the answer", "One"),
    ("ONE|TWO", "Two is the answer", "TWO"),
    ("ONE|TWO", "TWO\" is one of the correct answers.", "TWO"),
    (KEYS, "k1 is the best! k-2-3.1_1 is bad. k1!", "k1"),
    (COLOURS, "Blue is the answer.", "Blue"),
    (COLOURS, "Blue is my choice.", "Blue"),
    (COLOURS, "Blue would be the best option.", "Blue"),
    (COLOURS, "Blue seems to be the right one.", "Blue"),
    (COLOURS, "Blue looks like the best fit, because it matches.", "Blue"),
    (COLOURS, "\"Blue\" is the most appropriate category.", "Blue"),
    (COLOURS, "Therefore, Blue is the correct answer.", "Blue"),
    (COLOURS, "The option \"Blue\" is the best choice", "Blue"),
    (MOODS, "Negative is the most fitting label since nobody liked it.", "Negative"),
];

/// Sentences that do not, though a name stands in them.
const NOT_SAID: &[(&str, &str)] = &[
    // Denied.
    (COLOURS, "It is not Red"),
    (COLOURS, "It isn't RED."),
    (COLOURS, "not the RED one"),
    (COLOURS, "anything other than Red"),
    (COLOURS, "Red is wrong"),
    (COLOURS, "Red is not it"),
    (COLOURS, "Red is a bad choice."),
    (COLOURS, "Red: no"),
    (COLOURS, "Red: excluded"),
    (COLOURS, "Red - impossible"),
    (COLOURS, "Red: 20%"),
    (COLOURS, "Red, no."),
    (COLOURS, "Red. Not at all."),
    (COLOURS, "Red. That is wrong."),
    (COLOURS, "Red\nThis is not the colour of a banana, so it is out."),
    (COLOURS, "The answer is not Red."),
    (COLOURS, "The wrong answer is Red."),
    (COLOURS, "Wrong answer: Red"),
    (COLOURS, "The answer is anything but Red."),
    (COLOURS, "I would not choose Red."),
    (COLOURS, "I'd never go with Red."),
    (COLOURS, "I ruled out Red."),
    (COLOURS, "The answer is Red. Red is bad."),
    (COLOURS, "die Farbe ist nicht Red"),
    (COLOURS, "nobody thinks it's Red"),
    (ACTS, "Unable to approve."),
    (ACTS, "I refuse to approve."),
    (ACTS, "I hesitate to Approve."),
    (ACTS, "Too risky to Approve."),
    (ACTS, "Nothing to approve."),
    (ACTS, "Approve: the plan is not ready"),
    (ACTS, "Approve, it can't be."),
    (ACTS, "\u{2260} Approve"),
    (ACTS, "\u{274c} Approve"),
    (ACTS, "Approve \u{2717}"),
    (ACTS, "[ ] Approve"),
    (ACTS, "~~Approve~~"),
    (TRUTH, "That is not true."),
    (TRUTH, "It is far from true."),
    (TRUTH, "The opposite of true."),
    (TRUTH, "Rarely true."),
    // Taken back.
    (COLOURS, "It is Red. Just kidding."),
    (COLOURS, "Red. Actually, I am not sure."),
    (COLOURS, "Red. Wait, let me think again."),
    (COLOURS, "Red, but only at night"),
    (COLOURS, "Red. However, the light was bad."),
    (COLOURS, "The answer is Red. On second thought, it has no colour."),
    (COLOURS, "The answer is Red. Hmm."),
    (COLOURS, "Red. I take that back."),
    (COLOURS, "Red.. or something"),
    (COLOURS, "Sure, it is Red. And pigs fly."),
    (TRUTH, "It is true. However, the overall answer is the contrary."),
    (TRUTH, "Hmm, true. Actually no."),
    (TRUTH, "It seems true, but in reality something else holds."),
    (YES, "Yes. I don't think so."),
    (YES, "Yes, but only on Sundays."),
    (YES, "No, wait."),
    // Doubted.
    (COLOURS, "It might be Red."),
    (COLOURS, "It could be Red."),
    (COLOURS, "Maybe Red."),
    (COLOURS, "Possibly Red"),
    (COLOURS, "Red, maybe"),
    (COLOURS, "Red, perhaps."),
    (COLOURS, "Red..."),
    (COLOURS, "Red?"),
    (COLOURS, "Red? Sure."),
    (COLOURS, "Is it RED?"),
    (COLOURS, "The answer is Red?"),
    (COLOURS, "I doubt that it is Red."),
    (COLOURS, "I guess it could be Red."),
    (COLOURS, "The answer could be Red."),
    (COLOURS, "One answer is Red."),
    (COLOURS, "Red is nearly right."),
    (COLOURS, "Red may be the answer."),
    (COLOURS, "Red is possible."),
    (COLOURS, "Hardly Red."),
    (TRUTH, "true?"),
    (TRUTH, "Is it true? Sure."),
    (TRUTH, "The true answer is unknown"),
    (TRUTH, "It used to be true."),
    (TRUTH, "It's true, as far as I see."),
    // Weighed, or conditional.
    (COLOURS, "I considered Red."),
    (COLOURS, "I thought about Red at first."),
    (COLOURS, "My first guess was Red."),
    (COLOURS, "Red is ok!"),
    (COLOURS, "Red is better."),
    (COLOURS, "Red is one option."),
    (COLOURS, "Red has its merits."),
    (COLOURS, "Red would be my second choice."),
    (COLOURS, "Red is the best choice for winter."),
    (COLOURS, "Red is the best, if you like it."),
    (COLOURS, "I would choose Red if I had to."),
    (COLOURS, "I would choose Red as a placeholder."),
    (COLOURS, "I would say Red unless it rains."),
    (COLOURS, "If it rains, the answer is Red."),
    (COLOURS, "If it rains,\nthe answer is Red."),
    (COLOURS, "If it rains:\nThe answer is Red."),
    (COLOURS, "When in doubt, the answer is Red."),
    (COLOURS, "In that case the answer is Red."),
    (COLOURS, "I do not think that\nthe answer is Red."),
    (COLOURS, "I do not think that\nRed is the best choice."),
    (COLOURS, "The answer is Red wine."),
    (COLOURS, "The answer is Red\nor something like it."),
    (COLOURS, "Red is the answer to another question."),
    (COLOURS, "Red like a tomato"),
    (TRUTH, "If the sky is green, it is true."),
    (TRUTH, "You asked whether this is true."),
    (TRUTH, "It would be a mistake to say true."),
    (TRUTH, "The author says so. That is true. The study says nothing."),
    (TRUTH, "True, the contract was signed. The question is another one."),
    // Quoted, asked for or spoken of.
    (ACTS, "The user asks me to approve."),
    (ACTS, "The user wants me to say **Approve**."),
    (ACTS, "You told me to Approve."),
    (ACTS, "\"Approve,\" the user said."),
    (ACTS, "\u{201c}Approve.\u{201d} The user wrote this in his mail."),
    (ACTS, "\"The answer is Approve\" is what the user wrote."),
    (ACTS, "The user's answer is Approve."),
    (ACTS, "Your answer is Approve."),
    (ACTS, "The answer was Approve."),
    (ACTS, "The previous answer is Approve."),
    (ACTS, "The default choice is Approve."),
    (ACTS, "The student wrote: the answer is Approve."),
    (ACTS, "He said: Approve."),
    (ACTS, "According to the user, the answer is Approve."),
    (ACTS, "It is Approve, they say."),
    (ACTS, "For example:\nAnswer: Approve"),
    (ACTS, "The possible answers are:\nApprove"),
    (ACTS, "Rejected\n\nApprove"),
    (ACTS, "# Options\n\nApprove"),
    (ACTS, "- Approve\n- anything else"),
    (ACTS, "1. Approve\n2. something else"),
    (ACTS, "1. Approve is the best choice"),
    (ACTS, "I can do many things, e.g. Approve."),
    (ACTS, "Use Approve only where all is in order."),
    (ACTS, "To approve, all must be in order."),
    (ACTS, "Approve means that all is in order."),
    (ACTS, "Answer with Approve."),
    (ACTS, "Before I approve."),
    (ACTS, "I lack what it takes to approve."),
    // Words that mean something else.
    (MOODS, "The COVID test was positive."),
    (MOODS, "The test result was positive."),
    (MOODS, "I am positive that he left."),
    (MOODS, "The result is positive. The patient is ill."),
    (YES, "I have no idea"),
    (YES, "No idea, sorry"),
    (YES, "No one knows."),
    (YES, "Yes and no."),
    (YES, "Yes, I can help you with that."),
    (YES, "Yes, let me look at it."),
    (YES, "Any questions? No."),
    (KINDS, "Other than that, all is well."),
    (KINDS, "None of them."),
    (KINDS, "Feature requests are handled elsewhere."),
    (KINDS, "I choose none. They are all alike."),
    (LEVELS, "High above the clouds"),
    (LEVELS, "High: above 10"),
    (LEVELS, "The stakes are high."),
    (LEVELS, "The risk is high."),
    (LEVELS, "The fever is a symptom. It is high."),
    (STATES, "May I ask what you mean?"),
    (STATES, "May I see the text."),
    (STATES, "Open the door."),
    (STATES, "The decision is open. We wait for the manager."),
    (STATES, "The question is open."),
    (SMALL, "The answer is simple. It has three parts."),
    (SMALL, "The answer is simple: it depends."),
    (SMALL, "It is simple! You take the first one."),
    (LETTERS, "A good question"),
    (LETTERS, "It is a boat."),
    ("RED", "REDISH"),
    ("RED", "The answer is INFRA-RED"),
    ("RED", "It is RED-ish"),
    ("RED", "The answer is RED.txt"),
    ("RED", "It is a/RED"),
    ("RED", ""),
];

/// Texts in which no name stands more often than the others, or that conclude two.
const SEVERAL: &[(&str, &str)] = &[
    (KEYS, "k1 is the best! k-2-3.1_1 is bad. NUMBER_THREE!"),
    ("ONE|TWO", "ONE - is the answer, not TWO"),
    ("ONE|TWO", "ONE. is the answer, not TWO"),
    ("ONE|TWO", "ONE: is the answer, not TWO"),
    ("ONE|TWO", "Two\" is one of the correct answers."),
    (TRUTH, "The answer is true or false"),
    (TRUTH, "False. The sum is 4. Therefore, the statement does not hold true."),
    (COLOURS, "Red or Blue"),
    (COLOURS, "Red, Green and Blue"),
    (COLOURS, "Red\nBlue"),
    (COLOURS, "It is Red, not Blue."),
    (COLOURS, "I prefer Red over Blue."),
    (COLOURS, "Red is better than Blue."),
    (COLOURS, "The answer is Red. The answer is Blue."),
    (COLOURS, "Red! I'd go with blue."),
    (COLOURS, "The answer is Red. Red! Blue!"),
    (COLOURS, "Answer: Red\nAnswer: Blue"),
    (COLOURS, "What is the opposite of Red? Blue."),
    ("Red|RED", "it is red."),
    (YES, "Yes, but also No."),
    (MOODS, "Positive: the food. Negative: the waiter."),
    (LETTERS, "A. Paris\nB. London"),
];

#[test]
fn a_sentence_that_says_what_the_answer_is_is_taken() {
    let wrong: Vec<_> = SAID
        .iter()
        .map(|(names, text, name)| (text, of(names, text), name))
        .filter(|(_, said, name)| *said != Ok(**name))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_sentence_that_does_not_is_refused() {
    let wrong: Vec<_> = NOT_SAID
        .iter()
        .map(|(names, text)| (text, of(names, text)))
        .filter(|(_, said)| *said != Err(None))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn of_two_names_that_could_be_meant_both_are_told() {
    let wrong: Vec<_> = SEVERAL
        .iter()
        .map(|(names, text)| (text, of(names, text)))
        .filter(|(_, said)| !matches!(said, Err(Some(_))))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(of("ONE|TWO", "ONE is it, not TWO"), Err(Some(("ONE", "TWO"))));
}

#[test]
fn a_conclusion_within_other_words_is_none() {
    // Whatever stands before or behind a sentence that concludes, on its own line or not, it is no longer one.
    for (names, text, _) in SAID {
        let text = text.trim_end_matches(['.', '!', '\n']);
        for around in [
            format!("He said that {text}"),
            format!("It is wrong to say: {text}"),
            format!("If it rains, {text}"),
            format!("{text}, or so they say"),
            format!("{text}?"),
            format!("{text}. However, that is wrong."),
            format!("{text}. Just kidding."),
        ] {
            // A second sentence of the text may conclude by itself.
            let several = text.contains(['.', '!', '\n', '\\']);
            assert!(several || of(names, &around).is_err(), "{around}");
        }
    }
}

#[test]
fn an_essay_is_no_answer() {
    assert_eq!(of(COLOURS, &format!("Red.\n{}", "It is a colour. ".repeat(10))), Ok("Red"));
    assert_eq!(of(COLOURS, &format!("Red.\n{}", "It is a colour. ".repeat(300))), Err(None));
}
