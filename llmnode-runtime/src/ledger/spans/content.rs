//! Prompts and answers in the JSON that OpenTelemetry's conventions describe.
//! Recorded only if the program asks for it.

use std::borrow::Cow;

use llmnode_model::{Completion, FinishReason, Message, Part, Role, ToolSpec};
use llmnode_reader::text::floor_char_boundary;
use serde::Serialize;
use serde_json::value::RawValue;

const SHOWN: usize = 64 * 1024;

#[derive(Serialize)]
struct SpanMessage<'a> {
    role: Role,
    parts: Vec<SpanPart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'a str>,
}

#[derive(Serialize)]
struct SpanPart<'a> {
    r#type: &'static str,
    content: Cow<'a, str>,
}

impl<'a> SpanPart<'a> {
    fn text(text: &'a str) -> Self {
        SpanPart {
            r#type: "text",
            content: Cow::Borrowed(shown(text)),
        }
    }

    fn part(part: Part<'a>) -> Self {
        match part {
            Part::Text(text) => SpanPart::text(text),
            Part::Attachment(one) => SpanPart {
                r#type: one.kind(),
                content: Cow::Owned(one.label()),
            },
            _ => SpanPart::text(""),
        }
    }
}

pub(super) fn input(messages: &[Message]) -> String {
    let messages = messages.iter().map(|one| SpanMessage {
        role: one.role,
        parts: one.parts().map(SpanPart::part).collect(),
        finish_reason: None,
    });
    json(&messages.collect::<Vec<_>>())
}

pub(super) fn output(completion: &Completion) -> String {
    let text = completion.refusal.as_deref().unwrap_or(&completion.text);
    let finish = completion.finish.as_ref().map(FinishReason::as_str);
    json(&[SpanMessage {
        role: Role::Assistant,
        parts: vec![SpanPart::text(text)],
        finish_reason: finish,
    }])
}

pub(super) fn shown(text: &str) -> &str {
    &text[..floor_char_boundary(text, SHOWN)]
}

pub(super) fn tools(tools: &[ToolSpec]) -> String {
    #[derive(Serialize)]
    struct Definition<'a> {
        r#type: &'static str,
        name: &'a str,
        description: &'a str,
        parameters: &'a RawValue,
    }
    let definition = |tool: &'_ ToolSpec| {
        let ToolSpec {
            name,
            description,
            schema,
            ..
        } = tool;
        json(&Definition {
            r#type: "function",
            name,
            description,
            parameters: schema.plain(),
        })
    };
    format!(
        "[{}]",
        tools.iter().map(definition).collect::<Vec<_>>().join(",")
    )
}

pub(super) fn list(word: &str) -> String {
    json(&[word])
}

fn json(value: &impl Serialize) -> String {
    // Strings in lists and fields always serialize.
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_parts() {
        let messages = [
            Message::new(Role::System, "Be brief."),
            Message::new(Role::User, "\"Hi\""),
        ];
        assert_eq!(
            input(&messages),
            r#"[{"role":"system","parts":[{"type":"text","content":"Be brief."}]},{"role":"user","parts":[{"type":"text","content":"\"Hi\""}]}]"#
        );
        assert_eq!(
            output(&Completion::new("Hello")),
            r#"[{"role":"assistant","parts":[{"type":"text","content":"Hello"}],"finish_reason":"stop"}]"#
        );
    }

    #[test]
    fn attachments_are_told_not_shown() {
        let image = crate::Image::bytes("image/png", [7; 100]).unwrap();
        let shown = input(&[Message::user("Look:").attach(image)]);
        let image = r#"{"type":"image","content":"[image image/png, 100 bytes, #"#;
        assert!(shown.contains(image) && !shown.contains("BwcH"), "{shown}");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = output(&Completion::new("ä€".repeat(SHOWN)));
        assert!((SHOWN..SHOWN + 200).contains(&long.len()), "{}", long.len());
    }
}
