//! One piece of a prompt: literal text, or a value and how to write it.

use std::fmt::{self, Display};

use super::attach::PromptAttachment;
use super::fence::PromptFence;
use super::values::{PromptJson, PromptList, PromptOption, PromptValue};

/// One piece of a prompt. `#[llm_node]` turns `"Goal: {goal}"` into a text and a value.
#[derive(Clone, Copy)]
pub struct Segment<'a>(Piece<'a>);

#[derive(Clone, Copy)]
enum Piece<'a> {
    Text(&'static str),
    Value(&'a dyn Display),
    List(&'a dyn PromptList),
    Json(&'a dyn PromptJson),
    Fence(&'a dyn PromptFence),
    Raw(&'a dyn Display),
    Option(&'a dyn PromptOption, &'static str),
    Attach(&'a dyn PromptAttachment),
}

impl<'a> Segment<'a> {
    /// Literal text.
    pub const fn text(text: &'static str) -> Self {
        Segment(Piece::Text(text))
    }

    /// `{field}`: the value as `Display` writes it.
    pub const fn value<T: PromptValue>(value: &'a T) -> Self {
        Segment(Piece::Value(value))
    }

    /// `{field:spec}`: the value by one of Rust's format specifications.
    pub const fn format(value: &'a fmt::Arguments<'a>) -> Self {
        Segment(Piece::Value(value))
    }

    /// `{field:list}`: one line `- item` each; `(none)` if there are none.
    pub const fn list<T: PromptList>(items: &'a T) -> Self {
        Segment(Piece::List(items))
    }

    /// `{field:json}`: the value as JSON on one line.
    pub const fn json<T: PromptJson>(value: &'a T) -> Self {
        Segment(Piece::Json(value))
    }

    /// `{field:fence}`: the text between two lines of backticks, more of them than
    /// the text has in a row.
    pub const fn fence<T: PromptFence>(value: &'a T) -> Self {
        Segment(Piece::Fence(value))
    }

    /// `{field:raw}`: the value as it is, without the fence that its type may write.
    pub const fn raw<T: PromptValue>(value: &'a T) -> Self {
        Segment(Piece::Raw(value))
    }

    /// `{field:or(absent)}`: the value of an `Option`, or this text.
    pub const fn or<T: PromptOption>(value: &'a T, absent: &'static str) -> Self {
        Segment(Piece::Option(value, absent))
    }

    /// `{field:attach}`: images, files or audio, each a part of the message.
    pub const fn attach<T: PromptAttachment>(value: &'a T) -> Self {
        Segment(Piece::Attach(value))
    }

    pub(super) fn as_attachment(&self) -> Option<&'a dyn PromptAttachment> {
        if let Piece::Attach(value) = self.0 {
            Some(value)
        } else {
            None
        }
    }

    pub(super) fn as_text(&self) -> Option<&'static str> {
        if let Piece::Text(text) = self.0 {
            Some(text)
        } else {
            None
        }
    }
}

impl Display for Segment<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Piece::Text(text) => to.write_str(text),
            Piece::Value(value) => value.fmt(to),
            Piece::List(items) => items.write_list(to),
            Piece::Json(value) => value.write_json(to),
            Piece::Fence(value) => value.write_fence(to),
            Piece::Raw(value) => write!(to, "{value:-}"),
            Piece::Option(value, absent) => value.write_or(absent, to),
            Piece::Attach(_) => Ok(()),
        }
    }
}

impl fmt::Debug for Segment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Piece::Text(text) => write!(f, "Text({text:?})"),
            _ => f.write_str("Value"),
        }
    }
}
