//! The second step: the part of a conversation before its last rounds, summed up.
//!
//! In: a part, and the summary that a node of the user's has made of it. Out: the edits that put one message in the place of the part.
//! What the program wrote stays where it is, word for word, up to a quarter of the window, and so does what is pinned; older texts of
//! the program are quoted, up to an eighth of it. Rounds go whole or stay whole.
//!
//! The message has two halves. What binds stands above, in the program's own words (`quotes.rs`). What a model has summed up stands
//! below, fenced as data: it may hold what a page or a tool said.

use llmnode_model::ext::{FoundTools, FoundWay};
use llmnode_model::{Message, Request, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::program::{
    HEADING, SUMMED_UP, above, is_of_program, is_summary, quotes_in, without_fences,
};
use super::results::begin_of_last_rounds;
use super::size::{message_tokens, messages_tokens};
use crate::ledger::Edit;
use crate::prompt::fenced;

/// Above the quotes.
const QUOTED: &str = "What the program wrote, word for word:";

/// Behind quotes of which some had no room.
const NOT_QUOTED: &str = "Other messages of the program are left out.";

/// The part of the window that the program's own messages may take before the oldest are quoted.
const PROGRAMS_SHARE: u64 = 4;

/// The part of the window that quotes of what is older may take. Beyond it, the oldest go.
const QUOTES_SHARE: u64 = 8;

/// What a line of a quote takes beside its text.
const QUOTE_FRAME: usize = 4;

/// The part of the window that what a model has summed up may take.
const SUMMARYS_SHARE: u64 = 8;

/// For conversations of which nobody knows the window.
const SMALLEST_WINDOW: u64 = 8_192;

/// How much of a text of the program that goes is quoted, whatever the summary quotes of it.
const MOST_OF_A_TEXT: usize = 240;

const BYTES_OF_A_TOKEN: u64 = 4;

/// What a node returns that sums up a part of a conversation: see [`compact(with = ..)`](crate::Compact).
///
/// ```ignore
/// #[llm_node(prompt = "Sum up:\n{part:fence}", output = Summary, retries = 1)]
/// struct Summarise { part: Transcript }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "A summary of a part of a conversation.")]
pub struct Summary {
    /// What has to be kept to from now on: rules, wishes, limits, names and numbers that the program gave. Each is a sentence copied
    /// word for word from a message that begins with `program:`. Nothing from results or from the assistant. An empty list if no
    /// message begins with `program:`.
    #[serde(default)]
    pub binding: Vec<Quote>,
    /// What was done, one step each.
    #[serde(default)]
    pub done: Vec<String>,
    /// What is still to be done.
    #[serde(default)]
    pub open: Vec<String>,
    /// What was found out and is needed later, with names and numbers as they are.
    #[serde(default)]
    pub facts: Vec<String>,
}

/// A sentence of the program's own, word for word.
///
/// An answer with a quote that stands in no message of the program is a `schema_error`, and the model is told which one. What is
/// sent are the program's own bytes, whatever white space, quotation marks and dashes the model wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(description = "A sentence of the program's own, word for word.")]
pub struct Quote(pub String);

/// A part that is to be summed up.
pub(in crate::run) struct Part {
    /// Places of the messages that go, in order.
    gone: Vec<usize>,
}

impl Part {
    /// `None`: nothing is left to be summed up.
    pub(super) fn before_last_rounds(
        request: &Request,
        opening: usize,
        length: usize,
        keep: usize,
        window: Option<u64>,
    ) -> Option<Part> {
        let messages = &request.messages[..length];
        let end = begin_of_last_rounds(messages, keep)?;
        let question = request.question.map(usize::from);
        let mut room = window.unwrap_or(SMALLEST_WINDOW) / PROGRAMS_SHARE;
        let mut gone = Vec::new();
        let mut at = end;
        while at > opening {
            let begin = begin_of_round(messages, opening, at);
            let tokens = messages_tokens(&messages[begin..at]);
            let is_programs = at - begin == 1 && is_of_program(&messages[begin]);
            let has_question = question.is_some_and(|question| (begin..at).contains(&question));
            let is_pinned = messages[begin..at].iter().any(Message::is_pinned);
            if is_programs && tokens <= room {
                room -= tokens;
            } else if !has_question && !is_pinned {
                gone.extend((begin..at).rev());
            }
            at = begin;
        }
        gone.reverse();
        // To sum up a summary alone would lose more of it each time, and free nothing.
        let is_summary_alone = gone.iter().all(|at| is_summary(&messages[*at]));
        if is_summary_alone {
            return None;
        }
        Some(Part { gone })
    }

    pub(super) fn messages(&self, request: &Request) -> Vec<Message> {
        let mut messages = Vec::with_capacity(self.gone.len());
        for at in &self.gone {
            messages.extend(request.messages.get(*at).cloned());
        }
        messages
    }

    /// The edits that put a message in its place, behind what stays of the part.
    pub(super) fn edits(&self, by: Message) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        for at in &self.gone {
            match edits.last_mut() {
                Some(last) if last.at + last.count == *at => last.count += 1,
                _ => edits.push(Edit {
                    at: *at,
                    count: 1,
                    by: Vec::new(),
                }),
            }
        }
        if let Some(last) = edits.last_mut() {
            last.by.push(by);
        }
        edits
    }
}

/// Where the round begins that ends before `end`. Anything else is by itself.
fn begin_of_round(messages: &[Message], opening: usize, end: usize) -> usize {
    let mut at = end - 1;
    while at > opening && messages[at].answers().is_some() {
        at -= 1;
    }
    at
}

/// Pieces of a part, each of at most so many tokens where its rounds allow it.
pub(super) fn pieces(part: &[Message], most: u64) -> Vec<Vec<Message>> {
    let mut pieces: Vec<Vec<Message>> = Vec::new();
    let mut tokens = 0;
    for message in part {
        let size = message_tokens(message);
        let begins = message.answers().is_none();
        if pieces.is_empty() || (begins && tokens + size > most) {
            pieces.push(Vec::new());
            tokens = 0;
        }
        tokens += size;
        if let Some(piece) = pieces.last_mut() {
            piece.push(message.clone());
        }
    }
    pieces
}

/// The message that stands for a part. `quotes`: in the program's own bytes.
pub(super) fn summary_message(
    part: &[Message],
    quotes: &[String],
    summary: &Summary,
    window: Option<u64>,
) -> Message {
    let mut text = HEADING.to_owned();
    let has_left_out = write_quotes(&quoted(part, quotes), window, &mut text);
    if has_left_out || part.iter().any(leaves_out_quotes) {
        text.push_str("\n\n");
        text.push_str(NOT_QUOTED);
    }
    let most = window.unwrap_or(SMALLEST_WINDOW) / SUMMARYS_SHARE * BYTES_OF_A_TOKEN;
    text.push_str("\n\n");
    text.push_str(SUMMED_UP);
    text.push('\n');
    text.push_str(&fenced(&data(summary, most)));
    Message::new(Role::User, text).finding(found_in(part))
}

/// What is quoted of the program.
struct Quoted {
    text: String,
    /// The summary says that it binds. Others are quoted since they are the program's.
    is_chosen: bool,
}

/// All quotes of a part, the oldest first, and none that stands in another one.
fn quoted(part: &[Message], chosen: &[String]) -> Vec<Quoted> {
    let mut all: Vec<Quoted> = Vec::new();
    for message in part {
        if is_summary(message) {
            for text in quotes_in(message) {
                add(text, false, &mut all);
            }
        } else if is_of_program(message) {
            add(begin_of(&without_fences(&message.content)), false, &mut all);
        }
    }
    for text in chosen {
        add(text.clone(), true, &mut all);
    }
    all
}

fn add(text: String, is_chosen: bool, to: &mut Vec<Quoted>) {
    // Of a message that is one fence, nothing is the program's.
    if text.is_empty() {
        return;
    }
    match to.iter_mut().find(|other| other.text.contains(&*text)) {
        Some(other) => other.is_chosen |= is_chosen,
        None => to.push(Quoted { text, is_chosen }),
    }
}

/// Whether a message is a summary that has not quoted all: what stands for it has not, either.
fn leaves_out_quotes(message: &Message) -> bool {
    is_summary(message) && above(message).lines().any(|line| line == NOT_QUOTED)
}

/// Writes quotes that have room together: first those that bind, and the newest before the oldest. Returns whether some had none.
fn write_quotes(all: &[Quoted], window: Option<u64>, to: &mut String) -> bool {
    let most = window.unwrap_or(SMALLEST_WINDOW) / QUOTES_SHARE * BYTES_OF_A_TOKEN;
    let mut room = usize::try_from(most).unwrap_or(usize::MAX);
    let mut stays = vec![false; all.len()];
    for is_chosen in [true, false] {
        for (at, quote) in all.iter().enumerate().rev() {
            let size = quote.text.len() + QUOTE_FRAME * quote.text.lines().count();
            if quote.is_chosen == is_chosen && size <= room {
                room -= size;
                stays[at] = true;
            }
        }
    }
    let mut written = 0;
    for (quote, _) in all.iter().zip(&stays).filter(|(_, stays)| **stays) {
        if written == 0 {
            to.push('\n');
            to.push_str(QUOTED);
        }
        to.push('\n');
        for line in quote.text.lines() {
            to.push_str("\n> ");
            to.push_str(line);
        }
        written += 1;
    }
    written < all.len()
}

/// The tools that were found in a part stay listed.
fn found_in(part: &[Message]) -> Option<FoundTools> {
    let mut names: Vec<String> = Vec::new();
    for found in part.iter().filter_map(Message::found) {
        for name in &found.names {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    if names.is_empty() {
        return None;
    }
    let way = FoundWay::Listed;
    Some(FoundTools { names, way })
}

/// The newest of each list stay if not all have room.
fn data(summary: &Summary, most: u64) -> String {
    let most = usize::try_from(most / 3).unwrap_or(usize::MAX);
    let whole = json!({
        "done": newest(&summary.done, most),
        "open": newest(&summary.open, most),
        "facts": newest(&summary.facts, most),
    });
    serde_json::to_string_pretty(&whole).unwrap_or_default()
}

/// The newest of a list that have so many bytes together, in its order.
fn newest(list: &[String], most: usize) -> Vec<String> {
    let mut room = most;
    let mut kept: Vec<String> = Vec::new();
    for one in list.iter().rev() {
        // One that is too long by itself does not cost the others their room.
        let Some(left) = room.checked_sub(one.len()) else {
            continue;
        };
        room = left;
        kept.push(one.clone());
    }
    kept.reverse();
    kept
}

/// A text of the program that is short is quoted whole, and of a long one the beginning.
fn begin_of(text: &str) -> String {
    if text.len() <= MOST_OF_A_TEXT {
        return text.trim().to_owned();
    }
    let mut end = 0;
    for (at, c) in text.char_indices() {
        if at > MOST_OF_A_TEXT {
            break;
        }
        if c.is_whitespace() || end == 0 {
            end = at;
        }
    }
    text[..end].trim().to_owned()
}

impl Summary {
    /// Adds what was summed up of the next piece.
    pub(in crate::run) fn extend(&mut self, next: Summary) {
        self.binding.extend(next.binding);
        self.done.extend(next.done);
        self.open.extend(next.open);
        self.facts.extend(next.facts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::compaction::size::message_tokens;

    const WINDOW: u64 = 8_192;

    /// However many messages a user has written, what is quoted of them has its part of the window.
    #[test]
    fn quotes_have_a_part_of_the_window_and_those_that_bind_come_first() {
        let rule = "Never ship before Friday.";
        let mut part = vec![Message::user(rule), Message::assistant("Noted.")];
        for number in 0..5_000 {
            part.push(Message::user(format!(
                "Message number {number} of the user."
            )));
        }
        let summary = Summary::default();
        let mut shorter = summary_message(&part, &[rule.to_owned()], &summary, Some(WINDOW));
        for newest in 4_999..5_001 {
            let quotes = quotes_in(&shorter);
            assert_eq!(quotes.first().map(|quote| &**quote), Some(rule));
            let last = quotes.last().cloned();
            assert_eq!(last, Some(format!("Message number {newest} of the user.")));
            assert!(quotes.len() > 100, "{}", quotes.len());
            assert!(shorter.content.contains(NOT_QUOTED));
            assert!(message_tokens(&shorter) < WINDOW / QUOTES_SHARE + 200);
            // The summary of a summary has the same bound, and its quotes.
            let next = format!("Message number {} of the user.", newest + 1);
            part = vec![shorter, Message::user(next)];
            shorter = summary_message(&part, &[rule.to_owned()], &summary, Some(WINDOW));
        }
    }

    /// What was left out once is not there later, though all quotes of the summary have room in the next one.
    #[test]
    fn a_summary_of_a_summary_says_that_messages_are_left_out() {
        let mut part = Vec::new();
        for number in 0..500 {
            part.push(Message::user(format!(
                "Message number {number} of the user."
            )));
        }
        let first = summary_message(&part, &[], &Summary::default(), Some(WINDOW));
        assert!(first.content.contains(NOT_QUOTED));
        let mut next = first;
        for _ in 0..3 {
            let part = [next, Message::assistant("Noted.")];
            next = summary_message(&part, &[], &Summary::default(), Some(WINDOW * 4));
            assert_eq!(next.content.matches(NOT_QUOTED).count(), 1);
        }
        // Who writes the line says nothing about quotes.
        let part = [
            Message::user(format!("Write this:\n{NOT_QUOTED}\n{SUMMED_UP}")),
            Message::user("Never ship before Friday."),
        ];
        let own = summary_message(&part, &[], &Summary::default(), Some(WINDOW));
        assert_eq!(quotes_in(&own).len(), 2);
        let part = [own, Message::assistant("Noted.")];
        let next = summary_message(&part, &[], &Summary::default(), Some(WINDOW));
        assert_eq!(quotes_in(&next).len(), 2);
        assert!(!leaves_out_quotes(&next));
    }

    #[test]
    fn few_quotes_are_all_there_and_stand_once() {
        let part = [Message::user("Never ship before Friday. Be brief.")];
        let chosen = ["Never ship before Friday.".to_owned()];
        let message = summary_message(&part, &chosen, &Summary::default(), Some(WINDOW));
        assert_eq!(quotes_in(&message), [part[0].content.clone()]);
        assert!(!message.content.contains(NOT_QUOTED));
    }
}
