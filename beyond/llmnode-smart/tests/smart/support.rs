//! Nodes and helpers of these tests.

use llmnode::prelude::*;

/// What was found.
#[llm_output]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    /// Whether it holds.
    pub(crate) holds: bool,
    /// How sure, from 0 to 10.
    pub(crate) score: i64,
}

/// Judges a claim.
#[llm_node(goal = "Judge the claim.", output = Verdict, retries = 2)]
#[derive(Debug, PartialEq)]
pub(crate) struct Judge {
    /// what is known
    pub(crate) facts: Vec<String>,
    /// what is claimed
    pub(crate) claim: String,
}

pub(crate) fn judge() -> Judge {
    Judge {
        facts: vec!["the sun is a star".into()],
        claim: "the sun shines".into(),
    }
}

#[llm_node(goal = "Judge the claim.", think, output = Verdict, retries = 2)]
pub(crate) struct Ponder {
    pub(crate) claim: String,
}

#[llm_node(goal = "Judge the claim.", form = chat, output = Verdict, retries = 2)]
pub(crate) struct Chat {
    pub(crate) claim: String,
}

#[llm_node(goal = "Judge the claim.", think, form = chat, output = Verdict, retries = 2)]
pub(crate) struct ChatPonder {
    pub(crate) claim: String,
}

/// What was asked in a request, by role.
pub(crate) fn asked(model: &ScriptedModel, request: usize) -> Vec<(llmnode::Role, String)> {
    let request = &model.requests()[request];
    request
        .messages
        .iter()
        .map(|message| (message.role, message.content.clone()))
        .collect()
}

pub(crate) fn texts(model: &ScriptedModel, request: usize) -> Vec<String> {
    asked(model, request)
        .into_iter()
        .map(|(_, text)| text)
        .collect()
}

/// A model that gives one answer, as often as the tests ask.
pub(crate) fn always(answer: &'static str) -> ScriptedModel {
    ScriptedModel::new().otherwise(move |_| answer)
}
