//! A part of a conversation as text, for the node that sums it up.

use std::fmt;

use llmnode_model::{Message, Role};

use super::program::{is_of_program, is_summary};

/// Longer texts of tools and of the model are cut: what binds does not stand in them.
const MOST_OF_A_RESULT: usize = 2_000;

/// A part of a conversation, as text: the field of a node that sums it up, of
/// [`compact(with = ..)`](crate::Compact).
///
/// Each message begins with who wrote it: `program:` for what may be quoted as
/// binding, `assistant:`, `result of search:`. Results of tools and answers that
/// are long are cut. It holds what models and tools wrote, so a prompt fences it:
/// `{part:fence}`.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Message, Transcript};
///
/// let part = Transcript::of(&[Message::user("Never ship before Friday."), Message::assistant("Noted.")]);
/// assert_eq!(part.to_string(), "program: Never ship before Friday.\n\nassistant: Noted.");
/// ```
#[derive(Clone)]
pub struct Transcript {
    text: String,
}

impl Transcript {
    /// Writes messages as a transcript.
    pub fn of(messages: &[Message]) -> Self {
        let mut text = String::new();
        for message in messages {
            write_message(message, messages, &mut text);
        }
        text.truncate(text.trim_end().len());
        Transcript { text }
    }
}

fn write_message(message: &Message, all: &[Message], to: &mut String) {
    let is_programs = is_of_program(message);
    let who = match message.role {
        _ if is_programs => "program".to_owned(),
        _ if is_summary(message) => "summary of what was before".to_owned(),
        Role::Tool => format!("result of {}", called(message, all)),
        Role::Assistant => "assistant".to_owned(),
        _ => "note".to_owned(),
    };
    to.push_str(&who);
    to.push_str(": ");
    let shown = message.shown();
    if is_programs || is_summary(message) || shown.len() <= MOST_OF_A_RESULT {
        to.push_str(&shown);
    } else {
        to.extend(shown.chars().take(MOST_OF_A_RESULT));
        to.push_str(" [cut]");
    }
    for call in message.calls() {
        let arguments: String = call.arguments.chars().take(MOST_OF_A_RESULT).collect();
        to.push_str(&format!("\n  calls {} {arguments}", call.name));
    }
    to.push_str("\n\n");
}

/// The name of the tool whose result this is.
fn called<'m>(result: &Message, all: &'m [Message]) -> &'m str {
    let mut calls = all.iter().flat_map(Message::calls);
    let call = calls.find(|call| Some(&*call.id) == result.answers());
    call.map_or("a tool", |call| &*call.name)
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transcript({} bytes)", self.text.len())
    }
}
