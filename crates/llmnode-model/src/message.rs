//! Messages of a conversation: text, with attachments at positions in it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use llmnode_reader::text::floor_char_boundary;
use serde::{Deserialize, Serialize};

use super::prompt_parts::SentPrompt;
use super::provider_state::ProviderState;
use super::tool::{FoundTools, ToolCall};
use crate::media::Attachment;

/// The role of a message. It serializes as its name in lower case, such as `"user"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// The program's standing instruction.
    System,
    /// The program.
    User,
    /// The model.
    Assistant,
    /// A tool that the model called.
    Tool,
}

/// One message of a conversation. Its `Debug` form shows no content.
///
/// It serializes much as OpenAI's API has it: `{"role": "user", "content": "…"}`,
/// where the content is a list of parts if there are attachments. It is read back
/// from the same form:
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::Message;
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let history = vec![Message::user("Hello?"), Message::assistant("Hi.")];
/// let kept = serde_json::to_string(&history)?;
/// assert_eq!(serde_json::from_str::<Vec<Message>>(&kept)?, history);
/// # Ok(())
/// # }
/// ```
///
/// An attachment is checked as by its constructor. Blank text beside attachments is
/// lost, and so is the spelling of an audio type (`audio/x-wav` comes back as
/// `audio/wav`), and the mark of a [failed](Message::failed) call.
#[derive(Clone)]
#[non_exhaustive]
pub struct Message {
    /// The role.
    pub role: Role,
    /// The text of all parts, without the attachments.
    pub content: String,
    pub(super) attachments: Vec<InlineAttachment>,
    /// Boxed, since most messages have none of it.
    pub(super) tool_info: Option<Box<ToolInfo>>,
}

#[derive(Clone, Default)]
pub(super) struct ToolInfo {
    pub(super) calls: Vec<ToolCall>,
    pub(super) carried: Option<Arc<ProviderState>>,
    /// The id of the call whose result it is.
    pub(super) answers: Option<String>,
    pub(super) failed: bool,
    /// Of the conversation with this answer, without thoughts, as the provider counted them.
    pub(super) tokens: Option<u64>,
    /// The request that this message answers, by its hashes.
    pub(super) sent: Option<Arc<SentPrompt>>,
    /// The tools that were found for it.
    pub(super) found: Option<FoundTools>,
    /// It stays as it is in a conversation that is compacted.
    pub(super) pinned: bool,
}

/// Figures do not tell messages apart.
impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.role == other.role
            && self.content == other.content
            && self.attachments == other.attachments
            && self.calls() == other.calls()
            && self.carried() == other.carried()
            && self.answers() == other.answers()
            && self.is_failure() == other.is_failure()
    }
}

impl Eq for Message {}

/// `at`: the byte of the text before which it is placed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct InlineAttachment {
    at: usize,
    attachment: Attachment,
}

/// A part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part<'a> {
    /// Text.
    Text(&'a str),
    /// An image, a file or audio.
    Attachment(&'a Attachment),
}

impl Message {
    /// Creates a message of text.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Message {
            role,
            content: content.into(),
            attachments: Vec::new(),
            tool_info: None,
        }
    }

    /// Creates a system message.
    pub fn system(content: impl Into<String>) -> Self {
        Message::new(Role::System, content)
    }

    /// Creates a user message.
    pub fn user(content: impl Into<String>) -> Self {
        Message::new(Role::User, content)
    }

    /// Creates an assistant message.
    pub fn assistant(content: impl Into<String>) -> Self {
        Message::new(Role::Assistant, content)
    }

    /// Creates the result of a call of a tool.
    pub fn tool(call: impl Into<String>, result: impl Into<String>) -> Self {
        let mut message = Message::new(Role::Tool, result);
        message.tool_info().answers = Some(call.into());
        message
    }

    /// Marks the result of a call as a failure. OpenAI's API does not have the mark.
    #[must_use]
    pub fn failed(mut self) -> Self {
        self.tool_info().failed = true;
        self
    }

    /// Adds calls of tools, which the results have to follow, one for each call.
    #[must_use]
    pub fn calling(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.tool_info().calls.extend(calls);
        self
    }

    /// Returns the calls of tools, in order.
    pub fn calls(&self) -> &[ToolCall] {
        self.tool_info
            .as_ref()
            .map_or(&[], |tool_info| &tool_info.calls)
    }

    /// Returns the id of the call whose result this is.
    pub fn answers(&self) -> Option<&str> {
        self.tool_info.as_ref()?.answers.as_deref()
    }

    /// Returns whether this is the result of a call that failed.
    pub fn is_failure(&self) -> bool {
        self.tool_info
            .as_ref()
            .is_some_and(|tool_info| tool_info.failed)
    }

    /// Adds what the provider put into the answer beside text and calls:
    /// [`Completion::carried`](crate::Completion::carried).
    #[must_use]
    pub fn carrying(mut self, carried: Option<Arc<ProviderState>>) -> Self {
        if carried.is_some() {
            self.tool_info().carried = carried;
        }
        self
    }

    /// Returns what the provider put into the answer beside text and calls.
    pub fn carried(&self) -> Option<&Arc<ProviderState>> {
        self.tool_info.as_ref()?.carried.as_ref()
    }

    /// Sets the tokens of the conversation up to and with this answer. `None`: they are unknown.
    #[must_use]
    pub fn counted(mut self, tokens: Option<u64>) -> Self {
        if tokens.is_some() || self.tokens().is_some() {
            self.tool_info().tokens = tokens;
        }
        self
    }

    /// Returns the tokens of the conversation up to and with this answer, where the
    /// provider counted them.
    pub fn tokens(&self) -> Option<u64> {
        self.tool_info.as_ref()?.tokens
    }

    /// Sets the request that it answers, with which the next one is compared.
    /// `None`: it is forgotten.
    #[must_use]
    pub fn answering(mut self, sent: Option<Arc<SentPrompt>>) -> Self {
        if sent.is_some() || self.sent().is_some() {
            self.tool_info().sent = sent;
        }
        self
    }

    /// Returns the request that it answers.
    pub fn sent(&self) -> Option<&Arc<SentPrompt>> {
        self.tool_info.as_ref()?.sent.as_ref()
    }

    /// Sets the tools that were found for it. `None`: nobody searched.
    #[must_use]
    pub fn finding(mut self, found: Option<FoundTools>) -> Self {
        if found.is_some() || self.found().is_some() {
            self.tool_info().found = found;
        }
        self
    }

    /// Returns the tools that were found for it: for a question, or by the search
    /// whose result it is.
    pub fn found(&self) -> Option<&FoundTools> {
        self.tool_info.as_ref()?.found.as_ref()
    }

    /// The message as it was said: without figures of the provider, the record of
    /// its request, and what was found for it.
    pub fn bare(&self) -> Cow<'_, Message> {
        let has_figures =
            self.tokens().is_some() || self.sent().is_some() || self.found().is_some();
        if !has_figures && !self.is_pinned() {
            return Cow::Borrowed(self);
        }
        let mut bare = self.clone().counted(None).answering(None).finding(None);
        bare.tool_info().pinned = false;
        Cow::Owned(bare)
    }

    /// Pins the message: it stays word for word in a conversation that becomes too
    /// long and is compacted. It changes nothing of what is sent.
    ///
    /// ```
    /// # use llmnode_model as llmnode;
    /// use llmnode::Message;
    ///
    /// assert!(Message::user("Never ship before Friday.").pinned().is_pinned());
    /// ```
    #[must_use]
    pub fn pinned(mut self) -> Self {
        self.tool_info().pinned = true;
        self
    }

    /// Returns whether the message is [pinned](Self::pinned).
    pub fn is_pinned(&self) -> bool {
        self.tool_info
            .as_ref()
            .is_some_and(|tool_info| tool_info.pinned)
    }

    fn tool_info(&mut self) -> &mut ToolInfo {
        self.tool_info.get_or_insert_default()
    }

    /// Adds an attachment after the text so far.
    #[must_use]
    pub fn attach(mut self, attachment: impl Into<Attachment>) -> Self {
        self.push(attachment.into());
        self
    }

    /// Adds text after the attachments so far.
    #[must_use]
    pub fn text(mut self, text: impl AsRef<str>) -> Self {
        self.content.push_str(text.as_ref());
        self
    }

    /// Appends an attachment behind the text so far.
    pub fn push(&mut self, attachment: Attachment) {
        self.attachments.push(InlineAttachment {
            at: self.content.len(),
            attachment,
        });
    }

    /// Returns the attachments, in order.
    pub fn attachments(&self) -> impl Iterator<Item = &Attachment> {
        self.attachments.iter().map(|placed| &placed.attachment)
    }

    /// Returns text and attachments in order. Blank text beside attachments is left
    /// out, since some providers refuse it.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let plain = self.attachments.is_empty();
        self.pieces().flat_map(move |(text, attachment)| {
            let has_text = plain || !text.trim().is_empty();
            [
                has_text.then_some(Part::Text(text)),
                attachment.map(Part::Attachment),
            ]
            .into_iter()
            .flatten()
        })
    }

    fn pieces(&self) -> impl Iterator<Item = (&str, Option<&Attachment>)> {
        let text = self.content.as_str();
        let mut from = 0;
        let places = self
            .attachments
            .iter()
            .map(|placed| (placed.at, Some(&placed.attachment)));
        places
            .chain([(text.len(), None)])
            .map(move |(at, attachment)| {
                // `content` is public, and may have changed since.
                let at = floor_char_boundary(text, at.max(from));
                let piece = &text[from..at];
                from = at;
                (piece, attachment)
            })
    }

    /// Returns the text with the [label](Attachment::label) of each attachment in
    /// its place, as transcripts show it.
    pub fn shown(&self) -> String {
        let mut shown = String::new();
        for (text, attachment) in self.pieces() {
            shown.push_str(text);
            if let Some(attachment) = attachment {
                shown.push_str(&attachment.label());
            }
        }
        shown
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Message {{ role: {:?}, content: {} bytes",
            self.role,
            self.content.len()
        )?;
        if !self.attachments.is_empty() {
            write!(f, ", attachments: {}", self.attachments.len())?;
        }
        if !self.calls().is_empty() {
            write!(f, ", calls: {:?}", self.calls())?;
        }
        if let Some(carried) = self.carried() {
            write!(f, ", carried: {carried:?}")?;
        }
        if let Some(id) = self.answers() {
            write!(f, ", answers: {id:?}")?;
        }
        f.write_str(" }")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::media::{Audio, Detail, File, Image};

    fn image() -> Image {
        Image::bytes("image/png", b"png").unwrap()
    }

    #[test]
    fn parts_come_in_order_without_blanks() {
        let attachment = Attachment::from(image());
        let message = Message::user(" \n")
            .attach(image())
            .text("a\n")
            .attach(image())
            .attach(image());
        let (text, image) = (Part::Text("a\n"), Part::Attachment(&attachment));
        assert!(message.parts().eq([image, text, image, image]));
        assert!(Message::user("").parts().eq([Part::Text("")]));
    }

    #[test]
    fn debug_tells_sizes_alone() {
        let message = Message::user("secret").attach(image());
        assert_eq!(
            format!("{message:?}"),
            "Message { role: User, content: 6 bytes, attachments: 1 }"
        );
        assert_eq!(
            format!("{:?}", Message::user("secret")),
            "Message { role: User, content: 6 bytes }"
        );
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for (json, why) in [
            (r#"{"role":"tool","content":"a"}"#, "needs a `tool_call_id`"),
            (r#"{"role":"user"}"#, "needs `content`"),
            (r#"{"role":"user","content":null}"#, "needs `content`"),
            (
                r#"{"role":"user","content":7}"#,
                "expected a text or a list of parts",
            ),
            (
                r#"{"role":"user","content":"","tool_calls":[{"id":"1","function":{"name":"a","arguments":""}}]}"#,
                "only messages of the assistant may have `tool_calls`",
            ),
            (
                r#"{"role":"assistant","tool_calls":[{"id":"1"}]}"#,
                "missing field `function`",
            ),
            (
                r#"{"role":"user","content":"","name":"a"}"#,
                "unknown field `name`",
            ),
            (
                r#"{"role":"user","content":[{"type":"video"}]}"#,
                "unknown variant `video`",
            ),
            (
                r#"{"role":"user","content":[{"type":"text","text":"a","x":1}]}"#,
                "unknown field `x`",
            ),
            (
                r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"ftp://a"}}]}"#,
                "the URL of the image",
            ),
            (
                r#"{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"?","format":"mp3"}}]}"#,
                "base64",
            ),
            (
                r#"{"role":"user","content":[{"type":"file","file":{"filename":"a"}}]}"#,
                "a `file_id`, or",
            ),
        ] {
            let error = serde_json::from_str::<Message>(json)
                .unwrap_err()
                .to_string();
            assert!(error.contains(why), "{json}: {error}");
        }
        // Fields in any order, and texts side by side.
        let parts =
            r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"role":"user"}"#;
        assert_eq!(
            serde_json::from_str::<Message>(parts).unwrap(),
            Message::user("ab")
        );
    }

    fn any_attachment() -> impl Strategy<Value = Attachment> {
        let bytes = || prop::collection::vec(any::<u8>(), 1..40);
        let details = prop::option::of(prop::sample::select(vec![
            Detail::Auto,
            Detail::Low,
            Detail::High,
        ]));
        let detailed = |image: Image, detail: Option<Detail>| match detail {
            Some(detail) => image.detail(detail).into(),
            None => image.into(),
        };
        let files = (
            "[a-z\"é ]{0,9}x",
            prop::sample::select(vec!["application/pdf", "text/plain"]),
            bytes(),
        );
        let sounds = (
            prop::sample::select(vec!["audio/wav", "audio/mpeg", "audio/flac", "audio/ogg"]),
            bytes(),
        );
        prop_oneof![
            ("https?://[a-z]{1,9}/[a-z?&=%0-9]{0,9}", details.clone())
                .prop_map(move |(url, detail)| detailed(Image::url(url).unwrap(), detail)),
            ("[^%BI].{0,9}", details).prop_map(move |(rest, detail)| detailed(
                Image::bytes("image/svg+xml", rest).unwrap(),
                detail
            )),
            "[a-z0-9-]{1,20}".prop_map(|id| File::id(&id).unwrap().into()),
            files.prop_map(|(name, kind, bytes)| File::bytes(&name, kind, bytes).unwrap().into()),
            sounds.prop_map(|(kind, bytes)| Audio::bytes(kind, bytes).unwrap().into()),
        ]
    }

    proptest! {
        #[test]
        fn a_message_comes_back_from_its_json(
            role in prop::sample::select(vec![Role::System, Role::User, Role::Assistant]),
            first in any::<String>(),
            rest in prop::collection::vec((any_attachment(), any::<String>()), 0..4),
        ) {
            let first = Message::new(role, first);
            let message = rest.into_iter().fold(first, |message, (one, text)| message.attach(one).text(text));
            let json = serde_json::to_string(&message).unwrap();
            let back: Message = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(serde_json::to_string(&back).unwrap(), json);
            prop_assert!(back.parts().eq(message.parts()));
            // From a `Value`, too, which hands out what it owns.
            let value = serde_json::to_value(&message).unwrap();
            prop_assert_eq!(serde_json::from_value::<Message>(value).unwrap(), back);
        }

        #[test]
        fn calls_of_tools_come_back_from_their_json(
            has_text in "\\PC{0,6}",
            calls in prop::collection::vec(("\\PC{1,6}", "[a-z_]{1,9}", "\\PC{0,9}"), 1..4),
        ) {
            let calls = calls.iter().map(|(id, name, arguments)| ToolCall::new(id, name, arguments));
            let asked = Message::assistant(has_text).calling(calls);
            let answered = asked.calls().iter().map(|call| Message::tool(&*call.id, "a result"));
            let whole: Vec<Message> = answered.clone().chain([asked.clone()]).collect();
            let json = serde_json::to_string(&whole).unwrap();
            prop_assert_eq!(serde_json::from_str::<Vec<Message>>(&json).unwrap(), whole);
        }

        #[test]
        fn a_text_that_was_changed_is_all_there(texts in prop::collection::vec("[aé\n]{0,5}", 1..5), then in "[a€]{0,9}") {
            let first = Message::user(texts[0].clone());
            let mut message = texts[1..].iter().fold(first, |message, text| message.attach(image()).text(text));
            prop_assert_eq!(message.shown().replace(&Attachment::from(image()).label(), ""), texts.concat());
            message.content = then.clone();
            prop_assert_eq!(message.shown().replace(&Attachment::from(image()).label(), ""), then);
            prop_assert_eq!(message.parts().filter(|part| matches!(part, Part::Attachment(_))).count(), texts.len() - 1);
        }
    }
}
