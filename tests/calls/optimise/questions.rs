//! Questions in categories, each with a rule that cannot be guessed: what examples are for.

use llmnode::evals::Dataset;
use llmnode::prelude::*;
use llmnode::{FnModel, Reply, Request};

use super::Answer;

/// Answers a question of a category, which has a rule that nobody can guess.
#[llm_node(goal = "Answer the question.", think, output = Answer)]
pub(crate) struct Ask {
    pub(crate) question: String,
}

pub(crate) type Data = Dataset<Ask, Answer>;

pub(crate) fn case(category: usize, kind: &str, number: usize) -> (Ask, Answer) {
    let question = format!("category {category}, {kind} {number}");
    (
        Ask { question },
        Answer {
            answer: format!("{category}-{number}"),
        },
    )
}

/// SplitMix64, so that a seed gives the same order everywhere.
pub(crate) fn shuffled<T>(mut items: Vec<T>, seed: u64) -> Vec<T> {
    let mut state = seed;
    for at in (1..items.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        items.swap(
            at,
            usize::try_from((mixed ^ (mixed >> 31)) % (at as u64 + 1)).unwrap(),
        );
    }
    items
}

/// Sixteen cases to learn from: of each category one that shows its rule to the teacher, and three that do not.
pub(crate) fn train(seed: u64) -> Data {
    let all = (0..4).flat_map(|category| {
        (0..4).map(move |number| case(category, if number == 0 { "key" } else { "item" }, number))
    });
    Dataset::new(shuffled(all.collect(), seed))
}

pub(crate) fn validation() -> Data {
    Dataset::new(
        (0..4).flat_map(|category| [case(category, "item", 10), case(category, "item", 11)]),
    )
}

pub(crate) fn category_of(question: &str) -> (String, String) {
    let category = question.split("category ").nth(1).unwrap_or_default();
    let number = category.rsplit(' ').next().unwrap_or_default();
    (
        category.split(',').next().unwrap_or_default().to_owned(),
        number.trim().to_owned(),
    )
}

pub(crate) fn answer(request: &Request, knows: impl Fn(&str, &str) -> bool) -> Reply {
    let asked = &request.messages.last().unwrap().content;
    let (category, number) = category_of(asked);
    let rule = format!("rule {category}");
    let (reasoning, answer) = match knows(asked, &rule) {
        true => (rule, format!("{category}-{number}")),
        false => ("I guess".to_owned(), "?".to_owned()),
    };
    Reply::json(serde_json::json!({"reasoning": reasoning, "answer": answer}))
}

/// Answers rightly where an example has the category's rule.
pub(crate) fn student() -> FnModel {
    FnModel::new(|request| {
        let shown: String = request
            .messages
            .iter()
            .map(|message| message.content.as_str())
            .collect();
        answer(request, |_, rule| shown.contains(rule))
    })
}

/// Finds the rule where the question is a key.
pub(crate) fn teacher() -> FnModel {
    FnModel::new(|request| answer(request, |asked, _| asked.contains("key")))
}
