//! Converts messages of async-openai's types (feature `async-openai`).
//!
//! Text, images, files and audio are kept, each checked as by its constructor.
//! Names of participants, annotations and cache marks are not. A refusal becomes
//! its text.

use async_openai::types::chat::{
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestAssistantMessageContent,
    ChatCompletionRequestAssistantMessageContentPart, ChatCompletionRequestDeveloperMessage,
    ChatCompletionRequestDeveloperMessageContent, ChatCompletionRequestDeveloperMessageContentPart,
    ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage,
    ChatCompletionRequestSystemMessageContent, ChatCompletionRequestSystemMessageContentPart,
    ChatCompletionRequestUserMessage, ChatCompletionRequestUserMessageContent,
    ChatCompletionRequestUserMessageContentPart, ChatCompletionResponseMessage,
};
use serde_json::Value;

use super::message::Message;
use super::message_json::ParsedContent;
use crate::BoxError;

impl From<ChatCompletionRequestSystemMessage> for Message {
    fn from(message: ChatCompletionRequestSystemMessage) -> Self {
        use ChatCompletionRequestSystemMessageContent::{Array, Text};
        match message.content {
            Text(text) => Message::system(text),
            Array(parts) => parts
                .into_iter()
                .fold(Message::system(""), |message, part| {
                    let ChatCompletionRequestSystemMessageContentPart::Text(part) = part;
                    message.text(part.text)
                }),
        }
    }
}

/// A developer message becomes a system message: servers other than OpenAI's do not know the role.
impl From<ChatCompletionRequestDeveloperMessage> for Message {
    fn from(message: ChatCompletionRequestDeveloperMessage) -> Self {
        use ChatCompletionRequestDeveloperMessageContent::{Array, Text};
        match message.content {
            Text(text) => Message::system(text),
            Array(parts) => parts
                .into_iter()
                .fold(Message::system(""), |message, part| {
                    let ChatCompletionRequestDeveloperMessageContentPart::Text(part) = part;
                    message.text(part.text)
                }),
        }
    }
}

/// Fails for an attachment that cannot be sent, such as an image with an invalid URL.
impl TryFrom<ChatCompletionRequestUserMessage> for Message {
    type Error = BoxError;

    fn try_from(message: ChatCompletionRequestUserMessage) -> Result<Self, BoxError> {
        use ChatCompletionRequestUserMessageContent::{Array, Text};
        match message.content {
            Text(text) => Ok(Message::user(text)),
            Array(parts) => of_user(parts),
        }
    }
}

/// Fails for a message with tool calls, or one that refers to earlier audio.
impl TryFrom<ChatCompletionRequestAssistantMessage> for Message {
    type Error = BoxError;

    #[expect(deprecated, reason = "what a message may still hold")]
    fn try_from(message: ChatCompletionRequestAssistantMessage) -> Result<Self, BoxError> {
        use ChatCompletionRequestAssistantMessageContent::{Array, Text};
        use ChatCompletionRequestAssistantMessageContentPart as Part;
        let ChatCompletionRequestAssistantMessage {
            tool_calls,
            function_call,
            audio,
            ..
        } = &message;
        no_calls(
            tool_calls.as_ref().is_some_and(|calls| !calls.is_empty()) || function_call.is_some(),
        )?;
        no_sound(audio.is_some())?;
        let content = match message.content {
            None => message.refusal.unwrap_or_default(),
            Some(Text(text)) => text,
            Some(Array(parts)) => parts
                .into_iter()
                .map(|part| match part {
                    Part::Text(part) => part.text,
                    Part::Refusal(part) => part.refusal,
                })
                .collect(),
        };
        Ok(Message::assistant(content))
    }
}

/// Fails for results of tools, and where the conversion of the message's own type fails.
impl TryFrom<ChatCompletionRequestMessage> for Message {
    type Error = BoxError;

    fn try_from(message: ChatCompletionRequestMessage) -> Result<Self, BoxError> {
        match message {
            ChatCompletionRequestMessage::System(message) => Ok(message.into()),
            ChatCompletionRequestMessage::Developer(message) => Ok(message.into()),
            ChatCompletionRequestMessage::User(message) => message.try_into(),
            ChatCompletionRequestMessage::Assistant(message) => message.try_into(),
            ChatCompletionRequestMessage::Tool(_) | ChatCompletionRequestMessage::Function(_) => {
                Err("a message with the result of a tool cannot be converted; leave it out".into())
            }
        }
    }
}

/// The answer of a model. Fails for one with tool calls or audio.
impl TryFrom<ChatCompletionResponseMessage> for Message {
    type Error = BoxError;

    #[expect(deprecated, reason = "what a message may still hold")]
    fn try_from(message: ChatCompletionResponseMessage) -> Result<Self, BoxError> {
        let ChatCompletionResponseMessage {
            content,
            refusal,
            tool_calls,
            function_call,
            audio,
            ..
        } = message;
        no_calls(tool_calls.is_some_and(|calls| !calls.is_empty()) || function_call.is_some())?;
        no_sound(audio.is_some())?;
        Ok(Message::assistant(content.or(refusal).unwrap_or_default()))
    }
}

/// The parts have the same JSON as ours, except for the cache marks.
fn of_user(parts: Vec<ChatCompletionRequestUserMessageContentPart>) -> Result<Message, BoxError> {
    let mut parts = serde_json::to_value(parts)?;
    for part in parts
        .as_array_mut()
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        part.remove("prompt_cache_breakpoint");
    }
    let ParsedContent(message) = serde_json::from_value(parts)?;
    Ok(message)
}

fn no_calls(has_calls: bool) -> Result<(), BoxError> {
    match has_calls {
        true => Err("a message with calls of tools cannot be converted; leave it out".into()),
        false => Ok(()),
    }
}

fn no_sound(has_sound: bool) -> Result<(), BoxError> {
    match has_sound {
        true => Err("a message of the assistant contains sound; give what it says as text".into()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::media::{Audio, Detail, File, Image};

    fn read(message: Value) -> Result<Message, String> {
        let message: ChatCompletionRequestMessage = serde_json::from_value(message).unwrap();
        Message::try_from(message).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_said_is_kept() {
        let parts = json!([{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}]);
        for (message, expected) in [
            (
                json!({"role": "system", "content": "Be brief."}),
                Message::system("Be brief."),
            ),
            (
                json!({"role": "system", "content": parts}),
                Message::system("Be brief."),
            ),
            (
                json!({"role": "developer", "content": parts}),
                Message::system("Be brief."),
            ),
            (
                json!({"role": "user", "content": "Hello?", "name": "Ada"}),
                Message::user("Hello?"),
            ),
            (
                json!({"role": "assistant", "content": "Hi."}),
                Message::assistant("Hi."),
            ),
            (
                json!({"role": "assistant", "content": null, "refusal": "No."}),
                Message::assistant("No."),
            ),
            (
                json!({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}),
                Message::assistant("No."),
            ),
        ] {
            assert_eq!(read(message.clone()).unwrap(), expected, "{message}");
        }
    }

    #[test]
    fn attachments_are_kept() {
        let message = json!({"role": "user", "content": [
            {"type": "text", "text": "What is this?", "prompt_cache_breakpoint": {"mode": "explicit"}},
            {"type": "image_url", "image_url": {"url": "https://a.example/b.png", "detail": "high"}},
            {"type": "file", "file": {"file_id": "file-1"}},
            {"type": "input_audio", "input_audio": {"data": "bXAz", "format": "mp3"}},
        ]});
        let expected = Message::user("What is this?")
            .attach(
                Image::url("https://a.example/b.png")
                    .unwrap()
                    .detail(Detail::High),
            )
            .attach(File::id("file-1").unwrap())
            .attach(Audio::bytes("audio/mpeg", b"mp3").unwrap());
        assert_eq!(read(message).unwrap(), expected);
    }

    #[test]
    fn what_has_no_place_is_an_error() {
        let call =
            json!([{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
        for (message, why) in [
            (
                json!({"role": "tool", "content": "3", "tool_call_id": "1"}),
                "the result of a tool",
            ),
            (
                json!({"role": "function", "content": "3", "name": "f"}),
                "the result of a tool",
            ),
            (
                json!({"role": "assistant", "tool_calls": call}),
                "calls of tools",
            ),
            (json!({"role": "assistant", "audio": {"id": "1"}}), "sound"),
            (
                json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "ftp://a"}}]}),
                "URL of the image",
            ),
        ] {
            let error = read(message.clone()).unwrap_err();
            assert!(error.contains(why), "{message}: {error}");
        }
    }

    #[test]
    fn an_answer_continues_the_conversation() {
        let answer = |json: Value| {
            let message: ChatCompletionResponseMessage = serde_json::from_value(json).unwrap();
            Message::try_from(message).ok()
        };
        assert_eq!(
            answer(json!({"role": "assistant", "content": "Hi."})),
            Some(Message::assistant("Hi."))
        );
        let call =
            json!([{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
        assert_eq!(
            answer(json!({"role": "assistant", "tool_calls": call})),
            None
        );
    }
}
