//! A tool that asks a person in the middle of its work, such as a server that wants to know an amount before it pays.
//!
//! In comes the error by which the tool's function says what it asks ([`Asks`]); the call then waits in this state ([`Asked`])
//! until each question has a reply. The tool is called once more with the same arguments, the replies, and what it wanted to
//! get back (`memory`), which no person and no model sees. It may ask again, a limited number of times, so that it cannot keep
//! a person busy without end.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use llmnode_model::Category;
use llmnode_reader::Violation;
use llmnode_reader::ask::shortened;
use llmnode_reader::text::one_line;
use llmnode_reader::text::visible;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decision::Decision;
use crate::error::NodeError;
use crate::output::Untyped;

/// How often one call of a tool may ask.
pub(crate) const MOST_ROUNDS: u32 = 10;

/// What a tool asks a person before it goes on: see [`WaitingCall::question`](crate::WaitingCall::question).
///
/// Its texts come from outside, such as from an MCP server: escape them before they are shown in a page.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// # fn show(call: &llmnode::WaitingCall) {
/// if let Some(question) = &call.question {
///     println!("{}\n{}", question.message, question.schema);
/// }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// What is asked, for a person. Hidden characters are escapes, such as `\u202e`.
    pub message: String,
    /// The JSON Schema of an answer: an object with members of simple types.
    pub schema: Value,
}

impl Question {
    /// Creates a question. The schema is a JSON Schema of an object.
    pub fn new(message: &str, schema: Value) -> Self {
        Question {
            message: visible(message).into_owned(),
            schema,
        }
    }
}

/// What a person replied to one question.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskedReply {
    /// It follows the question's schema.
    Answer(Value),
    /// The person does not want to answer.
    Declined,
}

/// What a tool gets that is called again after it asked.
#[derive(Clone)]
pub struct AskedReplies {
    /// By the tool's own names of its questions.
    pub replies: BTreeMap<String, AskedReply>,
    /// What the tool wanted to get back.
    pub memory: Option<String>,
}

/// Why a tool did not end: it asks.
#[derive(Clone)]
pub struct Asks {
    /// By the tool's own names of them.
    pub questions: BTreeMap<String, Question>,
    /// What the tool wants to get back. Nobody else sees it.
    pub memory: Option<String>,
}

impl Asks {
    /// Returns the error that a function of [`Toolset::asking_function`](crate::Toolset::asking_function) ends with.
    pub fn into_error(self) -> NodeError {
        let message = match self.questions.len() {
            1 => "the tool asks a question".to_owned(),
            several => format!("the tool asks {several} questions"),
        };
        NodeError::new(Category::Paused, message).with_source(self)
    }

    /// Returns what a tool asks that ended with this error.
    pub(crate) fn of(error: &NodeError) -> Option<&Asks> {
        let chain = std::iter::successors(error.source(), |&error| error.source());
        chain
            .into_iter()
            .find_map(|error| error.downcast_ref::<Asks>())
    }
}

impl Error for Asks {}

impl fmt::Display for Asks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self
            .questions
            .keys()
            .map(|name| one_line(name, 100))
            .collect();
        write!(f, "it asks for {}", names.join(", "))
    }
}

impl fmt::Debug for Asks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asks")
            .field("questions", &self.questions.keys())
            .finish_non_exhaustive()
    }
}

/// The state of a call whose tool asks.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// The arguments that the tool was called with; a person may have edited those of the model.
    pub(crate) arguments: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory: Option<String>,
    questions: BTreeMap<String, AskedQuestion>,
    /// How often it has asked, with this time.
    pub(crate) round: u32,
}

#[derive(Clone, Serialize, Deserialize)]
struct AskedQuestion {
    question: Question,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply: Option<AskedReply>,
}

impl Asked {
    pub(crate) fn new(asks: Asks, arguments: &str, round: u32) -> Self {
        Asked {
            arguments: arguments.to_owned(),
            memory: asks.memory,
            questions: asks
                .questions
                .into_iter()
                .map(|(name, question)| {
                    let unanswered = AskedQuestion {
                        question,
                        reply: None,
                    };
                    (name, unanswered)
                })
                .collect(),
            round,
        }
    }

    /// The questions without a reply, by the tool's own names of them.
    pub(super) fn open(&self) -> impl Iterator<Item = (&str, &Question)> {
        self.questions
            .iter()
            .filter(|(_, entry)| entry.reply.is_none())
            .map(|(name, entry)| (name.as_str(), &entry.question))
    }

    /// The replies so far, by the tool's own names of their questions.
    pub(super) fn replied(&self) -> impl Iterator<Item = (&str, &AskedReply)> {
        self.questions
            .iter()
            .filter_map(|(name, entry)| Some((name.as_str(), entry.reply.as_ref()?)))
    }

    /// What it asks and what it wants to get back, without any reply.
    pub(super) fn identity(&self) -> Value {
        let questions: Vec<_> = self
            .questions
            .iter()
            .map(|(name, entry)| serde_json::json!([name, entry.question]))
            .collect();
        serde_json::json!([questions, self.memory, self.round])
    }

    /// `None`: a question has no reply yet.
    pub(crate) fn replies(&self) -> Option<AskedReplies> {
        let mut replies = BTreeMap::new();
        for (name, entry) in &self.questions {
            replies.insert(name.clone(), entry.reply.clone()?);
        }
        Some(AskedReplies {
            replies,
            memory: self.memory.clone(),
        })
    }

    /// Takes a person's decision about the question of this name: `Ok(false)` if it is not asked.
    pub(super) fn settle(
        &mut self,
        is_named: impl Fn(&str) -> bool,
        decision: Option<Decision>,
    ) -> Result<bool, String> {
        let Some((_, entry)) = self.questions.iter_mut().find(|(name, _)| is_named(name)) else {
            return Ok(false);
        };
        entry.reply = match decision {
            None => None,
            Some(Decision::No(_)) => Some(AskedReply::Declined),
            Some(Decision::Result(answer) | Decision::Edit(answer)) => {
                Some(AskedReply::Answer(checked(&entry.question, &answer)?))
            }
            Some(Decision::Yes) => {
                return Err(
                    "it is a question: `answer` replies to it, and `decline` refuses".into(),
                );
            }
        };
        Ok(true)
    }
}

/// The answer as its question wants it.
fn checked(question: &Question, answer: &Value) -> Result<Value, String> {
    if !answer.is_object() {
        return Err(format!(
            "an answer is a JSON object that follows the question's schema, and not `{}`",
            one_line(answer.to_string(), 100)
        ));
    }
    let parser = Untyped::by_schema("answer", question.schema.clone());
    parser
        .value(&answer.to_string())
        .map_err(|violations| of_violations(&violations))
}

fn of_violations(violations: &[Violation]) -> String {
    let violations: Vec<_> = violations
        .iter()
        .cloned()
        .map(|one| shortened(one).to_string())
        .collect();
    format!(
        "the answer does not follow the question's schema: {}",
        violations.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked() -> Asked {
        let schema = json!({"type": "object", "properties": {"euros": {"type": "integer", "maximum": 50}}, "required": ["euros"]});
        let asks = Asks {
            questions: [("amount".to_owned(), Question::new("How much?", schema))].into(),
            memory: Some("sealed".into()),
        };
        Asked::new(asks, "{}", 1)
    }

    #[test]
    fn a_reply_follows_the_schema_of_its_question() {
        let mut asked = asked();
        let mut settle = |decision| asked.settle(|name| name == "amount", decision);
        for wrong in [
            json!({}),
            json!({"euros": 51}),
            json!({"euros": "many"}),
            json!(20),
            json!(null),
        ] {
            let why = settle(Some(Decision::Result(wrong.clone()))).unwrap_err();
            assert!(why.contains("schema"), "{wrong}: {why}");
        }
        assert!(settle(Some(Decision::Yes)).unwrap_err().contains("answer"));
        assert_eq!(
            settle(Some(Decision::Result(json!({"euros": 20})))),
            Ok(true)
        );
        assert_eq!(
            asked.settle(|name| name == "other", Some(Decision::Yes)),
            Ok(false)
        );
        let replies = asked.replies().unwrap();
        assert!(replies.replies["amount"] == AskedReply::Answer(json!({"euros": 20})));
        assert_eq!(replies.memory.as_deref(), Some("sealed"));
    }

    #[test]
    fn a_pause_is_the_same_whatever_is_replied() {
        let mut asked = asked();
        let before = asked.identity();
        assert!(asked.replies().is_none() && asked.open().count() == 1);
        assert_eq!(
            asked.settle(|_| true, Some(Decision::No(String::new()))),
            Ok(true)
        );
        assert!(asked.replies().unwrap().replies["amount"] == AskedReply::Declined);
        assert_eq!((asked.identity(), asked.open().count()), (before, 0));
    }

    #[test]
    fn what_only_the_tool_may_read_is_in_no_text() {
        let asks = Asks {
            questions: BTreeMap::new(),
            memory: Some("sealed".into()),
        };
        let error = asks.clone().into_error();
        assert!(!format!("{asks:?} {asks} {error} {error:?}").contains("sealed"));
        assert!(Asks::of(&error).is_some());
    }
}
