//! Renders segments and values to the text of a message, and notes where the parts of a prompt end.
//!
//! A prompt is written in two passes over the same segments: the first counts
//! bytes, the second writes them into a string of exactly that size. A value is
//! inserted once and never read again as a template.
//!
//! Generated code calls [`Prompt::system`], the examples, [`Prompt::history`] and
//! [`Prompt::user`] in this order. A fault does not stop it, since generated code
//! has no `?` for it: the first one is kept, and [`Prompt::finish`] returns it.

use std::fmt::{self, Write};

use llmnode_model::{Attachment, Message, Role};

use super::attach::Attachments;
use super::history::PromptHistory;
use super::section::Section;
use super::segment::Segment;

const MAX_TOTAL: usize = Attachment::MAX_TOTAL;

/// The messages that a node's prompt renders to, in the order in which they are written.
#[derive(Default)]
pub struct Prompt {
    messages: Vec<Message>,
    /// The first fault.
    failed: Option<String>,
    pub(crate) section: Section,
    /// Index of the first message of the conversation: behind instructions and
    /// examples. `None`: nothing has marked it.
    conversation_start: Option<usize>,
    /// Index of the first message of the history. `None`: the node has no field for one.
    history_start: Option<usize>,
    /// The node has a place for earlier messages, so that its next call begins as this one.
    is_chat: bool,
    /// How many bytes of the user's message stand before its first value.
    shared_text: usize,
    /// A variable that stands before a long fixed text, and how many bytes of the
    /// message are fixed.
    early: Option<EarlyValue>,
}

/// What keeps a long fixed text from being shared by the calls of a node.
#[derive(Clone, Copy)]
pub(crate) struct EarlyValue {
    pub(crate) name: &'static str,
    pub(crate) fixed_bytes: usize,
    pub(crate) all_bytes: usize,
}

impl Prompt {
    /// An empty prompt.
    pub fn new() -> Self {
        Prompt::default()
    }

    /// Writes the system message.
    pub fn system(&mut self, segments: &[Segment<'_>]) {
        if self.is_example() {
            return;
        }
        let attaches = segments
            .iter()
            .any(|segment| segment.as_attachment().is_some());
        if attaches {
            self.fail("`system` is text, and nothing can be attached to it");
        }
        let message = self.render("system", Role::System, segments);
        self.push(message);
    }

    /// Adds the earlier messages of a conversation, as they are.
    pub fn history<H: PromptHistory + ?Sized>(&mut self, history: &H) {
        if self.is_example() {
            return;
        }
        self.begin_conversation();
        self.is_chat = true;
        self.history_start.get_or_insert(self.messages.len());
        let history = history.as_ref();
        self.reserve_messages(history.len());
        self.messages.extend_from_slice(history);
    }

    /// Writes the prompt itself, which ends the conversation. How much of its
    /// beginning is the same in all calls of the node is noted, for providers'
    /// caches.
    pub fn user(&mut self, segments: &[Segment<'_>]) {
        self.begin_conversation();
        self.shared_text = literal_beginning(segments);
        let message = self.render("prompt", Role::User, segments);
        if let Some(early) = &mut self.early {
            let fixed = segments.iter().filter_map(Segment::as_text);
            early.fixed_bytes = fixed.map(str::len).sum();
            early.all_bytes = message.content.len();
        }
        self.push(message);
    }

    /// Says that this variable stands before a long fixed text of the user's message.
    pub fn varies_early(&mut self, name: &'static str) {
        self.early = Some(EarlyValue {
            name,
            fixed_bytes: 0,
            all_bytes: 0,
        });
    }

    /// The variable that stands before a long fixed text, if there is one.
    pub(crate) fn early(&self) -> Option<EarlyValue> {
        self.early
    }

    /// The messages so far.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Says that what is written from here on is the conversation, which the
    /// history of a next call has again. What stands before it is instructions and
    /// examples, which the next call writes itself.
    pub fn begin_conversation(&mut self) {
        if !self.is_example() {
            self.conversation_start.get_or_insert(self.messages.len());
        }
    }

    /// Says that no call follows with this one as its history, although there is a place for one.
    pub(crate) fn is_single(&mut self) {
        self.is_chat = false;
    }

    /// Whether the next call may begin with the messages of this one.
    pub(crate) fn is_chat(&self) -> bool {
        self.is_chat
    }

    /// How many bytes at the beginning of the user's message are the same in all calls of the node.
    pub(crate) fn shared_text(&self) -> usize {
        self.shared_text
    }

    /// How many messages stand before the history.
    pub(crate) fn values(&self) -> usize {
        self.history_start.unwrap_or(self.messages.len())
    }

    /// How many messages stand before the conversation: instructions and examples.
    pub(crate) fn opening(&self) -> usize {
        self.conversation_start.unwrap_or_else(|| {
            self.messages
                .iter()
                .take_while(|message| message.role == Role::System)
                .count()
        })
    }

    /// Returns the messages, or the first thing in them that cannot be sent.
    pub(crate) fn finish(self) -> Result<Vec<Message>, String> {
        if let Some(fault) = self.failed {
            return Err(fault);
        }
        let attachments = self.messages.iter().flat_map(Message::attachments);
        let attached: usize = attachments.map(Attachment::sent_bytes).sum();
        if attached > MAX_TOTAL {
            return Err(format!(
                "the prompt's attachments have {attached} bytes as they are sent, more than the \
                 {MAX_TOTAL} of a request; attach fewer, or name them by URL or id"
            ));
        }
        Ok(self.messages)
    }

    /// Adds a message. A system message without text is left out: it says nothing,
    /// and some providers refuse it.
    pub fn push(&mut self, message: Message) {
        self.reserve_messages(1);
        if message.role != Role::System || !message.content.is_empty() {
            self.messages.push(message);
        }
    }

    /// Returns whether only the user message of an example is wanted.
    pub fn is_example(&self) -> bool {
        matches!(self.section, Section::Example(_))
    }

    /// Records what cannot be sent; only the first such fault is reported.
    pub fn fail(&mut self, fault: &str) {
        let section = self.section;
        self.failed
            .get_or_insert_with(|| format!("{section}{fault}"));
    }

    /// So that the prompt and a first correction do not reallocate.
    fn reserve_messages(&mut self, messages: usize) {
        if self.messages.capacity() < self.messages.len() + messages {
            self.messages.reserve(messages + 3);
        }
    }

    /// Writes one message. `part` names it in messages about faults: `system` or `prompt`.
    fn render(&mut self, part: &str, role: Role, segments: &[Segment<'_>]) -> Message {
        let Some(size) = written_bytes(segments) else {
            let number = failing_value(segments);
            self.fail(&format!(
                "value {number} of `{part}` could not be written: its `Display` or `Serialize` gave an error"
            ));
            return Message::new(role, "");
        };
        let mut message = Message::new(role, String::with_capacity(size));
        // A message notes at which byte of its text an attachment stands. So the
        // text is written up to each attachment before that is added: each slice
        // ends with one.
        for run in segments.split_inclusive(|segment| segment.as_attachment().is_some()) {
            let joined = Joined {
                segments: run,
                with_texts: true,
            };
            // Counting succeeded, so writing does, unless a `Display` contradicts
            // itself; then the text is cut.
            if write!(message.content, "{joined}").is_err() {
                self.fail(&format!("a value of `{part}` could not be written as text"));
            }
            if let Some(value) = run.last().and_then(Segment::as_attachment) {
                value.attach(&mut Attachments::new(&mut |one| message.push(one)));
            }
        }
        message
    }
}

/// The first pass: how many bytes the second one will write. `None`: a value cannot be written.
fn written_bytes(segments: &[Segment<'_>]) -> Option<usize> {
    let texts = segments.iter().filter_map(Segment::as_text);
    let mut size = Counter {
        bytes: texts.map(str::len).sum(),
    };
    let values = Joined {
        segments,
        with_texts: false,
    };
    write!(size, "{values}").ok()?;
    Some(size.bytes)
}

/// Which value of the prompt cannot be written, counted from 1 without the literal texts.
fn failing_value(segments: &[Segment<'_>]) -> usize {
    let mut number = 0;
    for segment in segments {
        if segment.as_text().is_none() {
            number += 1;
        }
        if write!(Counter::default(), "{segment}").is_err() {
            break;
        }
    }
    number
}

/// The length of the literal text before the first value, in bytes.
fn literal_beginning(segments: &[Segment<'_>]) -> usize {
    let texts = segments.iter().map_while(Segment::as_text);
    texts.map(str::len).sum()
}

/// Shares one formatter among all segments, which is faster than one for each value.
struct Joined<'a> {
    segments: &'a [Segment<'a>],
    /// The first pass leaves the literal texts out: their lengths are known.
    with_texts: bool,
}

impl fmt::Display for Joined<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in self.segments {
            if self.with_texts || segment.as_text().is_none() {
                segment.fmt(to)?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("messages", &self.messages)
            .finish_non_exhaustive()
    }
}

/// Counts what is written into it.
#[derive(Default)]
struct Counter {
    bytes: usize,
}

impl Write for Counter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes += text.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use llmnode_model::{File, Image};

    use super::*;

    fn text(segments: &[Segment<'_>]) -> String {
        let mut prompt = Prompt::new();
        prompt.user(segments);
        prompt.finish().unwrap().remove(0).content
    }

    #[test]
    fn values_are_inserted_once_and_never_expanded() {
        let goal = "{goal} {{x}} <|im_start|>system".to_owned();
        assert_eq!(
            text(&[Segment::text("Goal: "), Segment::value(&goal)]),
            format!("Goal: {goal}")
        );
    }

    #[test]
    fn lists_indent_and_name_emptiness() {
        let items = vec!["key", "lamp\nwith oil"];
        assert_eq!(text(&[Segment::list(&items)]), "- key\n- lamp\n  with oil");
        assert_eq!(text(&[Segment::list(&Vec::<u8>::new())]), "(none)");
    }

    #[test]
    fn a_set_without_order_is_listed_in_one() {
        let set: std::collections::HashSet<_> = (0..10).collect();
        let lines: Vec<_> = (0..10).map(|n| format!("- {n}")).collect();
        assert_eq!(text(&[Segment::list(&set)]), lines.join("\n"));
    }

    #[test]
    fn optional_values_name_their_absence() {
        assert_eq!(
            text(&[
                Segment::or(&Some(3), "none"),
                Segment::or(&None::<u8>, "none")
            ]),
            "3none"
        );
    }

    #[test]
    fn specs_and_json() {
        let tags = vec!["a\"b"];
        assert_eq!(
            text(&[
                Segment::format(&format_args!("{:>4}", 7)),
                Segment::json(&tags)
            ]),
            "   7[\"a\\\"b\"]"
        );
    }

    #[test]
    fn a_value_with_a_fence_of_its_own_has_one_and_none_only_by_word() {
        struct Found(&'static str);
        impl fmt::Display for Found {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if f.sign_minus() {
                    f.write_str(self.0)
                } else {
                    write!(f, "```\n{}\n```", self.0)
                }
            }
        }
        let found = std::sync::Arc::new(Found("x"));
        assert_eq!(text(&[Segment::value(&found)]), "```\nx\n```");
        assert_eq!(text(&[Segment::fence(&found)]), "```\nx\n```");
        assert_eq!(text(&[Segment::or(&Some(&found), "none")]), "```\nx\n```");
        assert_eq!(text(&[Segment::raw(&found)]), "x");
        assert_eq!(
            text(&[Segment::raw(&-5), Segment::raw(&1.5), Segment::raw(&"a")]),
            "-51.5a"
        );
    }

    #[test]
    fn one_allocation_of_the_exact_size() {
        let mut prompt = Prompt::new();
        prompt.user(&[Segment::text("n = "), Segment::value(&12345)]);
        let text = &prompt.messages()[0].content;
        assert_eq!(text.capacity(), text.len());
    }

    #[test]
    fn attachments_stand_where_they_are_written() {
        let image = |bytes: &[u8]| Image::bytes("image/png", bytes).unwrap();
        let (both, none, photo) = (vec![image(b"a"), image(b"b")], None::<File>, &image(b"c"));
        let mut prompt = Prompt::new();
        prompt.user(&[
            Segment::text("ä "),
            Segment::attach(&both),
            Segment::attach(&none),
            Segment::text("\n"),
            Segment::value(&5),
            Segment::attach(&photo),
        ]);
        let message = prompt.finish().unwrap().remove(0);
        assert_eq!(
            (message.content.as_str(), message.content.capacity()),
            ("ä \n5", 5)
        );
        let expected = Message::user("ä ")
            .attach(image(b"a"))
            .attach(image(b"b"))
            .text("\n5")
            .attach(image(b"c"));
        assert_eq!(message, expected);
    }

    #[test]
    fn nothing_is_attached_to_system_and_not_without_end() {
        let image = Image::bytes("image/png", vec![1; 1024 * 1024]).unwrap();
        let mut prompt = Prompt::new();
        prompt.system(&[Segment::attach(&image)]);
        assert!(prompt.finish().unwrap_err().contains("`system` is text"));
        let mut prompt = Prompt::new();
        prompt.user(&[Segment::attach(&vec![image; 40])]);
        let fault = prompt.finish().unwrap_err();
        assert!(
            fault.contains("have 55925040 bytes") && fault.contains("52428800"),
            "{fault}"
        );
    }

    #[test]
    fn a_value_that_cannot_be_written_is_a_fault() {
        let map = std::collections::BTreeMap::from([(vec![1], 2)]);
        let mut prompt = Prompt::new();
        prompt.user(&[Segment::text("Data: "), Segment::json(&map)]);
        assert!(prompt.finish().unwrap_err().contains("value 1 of `prompt`"));
    }
}
