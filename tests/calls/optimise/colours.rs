//! Colours in families, each with a rule that only the feedback contains: what a goal is for.

use llmnode::evals::{Dataset, Score};
use llmnode::prelude::*;
use llmnode::{FnModel, Reply, Request};

use super::Answer;

/// A colour's name, in the way its family wants it.
#[llm_node(goal = "Name the colour.", output = Answer)]
pub(crate) struct Name {
    pub(crate) colour: String,
}

pub(crate) const RULES: [(&str, &str); 3] = [
    ("warm", "Rule of warm colours: write the name in capitals."),
    ("cold", "Rule of cold colours: write the name backwards."),
    ("grey", "Rule of grey colours: write the name twice."),
];

pub(crate) fn colours(numbers: std::ops::Range<usize>) -> Dataset<Name, Answer> {
    let names = numbers.flat_map(|number| {
        RULES.iter().map(move |(family, _)| {
            let colour = format!("{family} {number}");
            (
                Name {
                    colour: colour.clone(),
                },
                Answer {
                    answer: format!("right: {colour}"),
                },
            )
        })
    });
    Dataset::new(names)
}

pub(crate) fn rule_of(colour: &str) -> &'static str {
    RULES
        .iter()
        .find(|(family, _)| colour.starts_with(family))
        .unwrap()
        .1
}

/// The feedback has the rule.
pub(crate) fn graded(input: &Name, expected: &Answer, output: &Answer) -> Score {
    Score::from((expected == output, rule_of(&input.colour)))
}

/// A hash of a text.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Names a colour rightly if the goal has its rule, and proposes a rule that it reads in the feedback. Some proposals are
/// bad, by their material: they forget what the goal had, or are no instruction at all.
pub(crate) fn learner() -> FnModel {
    FnModel::new(learn)
}

pub(crate) fn learn(request: &Request) -> Reply {
    let [system, user] = [0, 1].map(|at| request.messages[at].content.as_str());
    if !system.starts_with("You improve the instruction") {
        let colour = user.lines().last().unwrap();
        let right = system.contains(rule_of(colour));
        let answer = if right {
            format!("right: {colour}")
        } else {
            colour.to_owned()
        };
        return Reply::json(Answer { answer });
    }
    let (before, cases) = user.split_once("Cases:").unwrap();
    let keeps = match hash(user) % 4 {
        0 => return Reply::json(serde_json::json!({"instruction": "Be nice."})),
        1 => "",
        _ => before,
    };
    // It learns one rule at a time.
    let known = |rule: &&str| keeps.contains(*rule);
    let all = || RULES.iter().map(|(_, rule)| *rule);
    let new = all().find(|rule| !known(rule) && cases.contains(rule));
    let rules: Vec<_> = all().filter(known).chain(new).collect();
    Reply::json(serde_json::json!({"instruction": format!("Name the colour. {}", rules.join(" "))}))
}
