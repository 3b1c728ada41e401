//! The values that fill prompt variables: one trait for each way to write them, so
//! that each has its own message.
//!
//! All of them write into a `dyn Write` and not into a `String`: the same code
//! counts bytes in the first pass over a prompt and writes them in the second.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::fmt::{self, Display, Write};
use std::sync::Arc;

use serde::Serialize;

/// A value that fills `{field}`: anything that implements [`Display`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot fill a prompt variable",
    label = "has no `Display`",
    note = "write `{{name:list}}` for a list, `{{name:json}}` for data, `{{name:?}}` for its \
            `Debug` form, `{{name:or(none)}}` for an `Option`, `{{name:attach}}` for an image or a \
            file, or implement `Display`"
)]
pub trait PromptValue: Display {}

#[diagnostic::do_not_recommend]
impl<T: Display> PromptValue for T {}

/// An element of a list: anything that implements [`Display`].
pub trait PromptItem: Display {}

#[diagnostic::do_not_recommend]
impl<T: Display> PromptItem for T {}

/// A value that fills `{field:list}`: a collection of elements with [`Display`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as `:list`",
    label = "not a list of values with `Display`",
    note = "`:list` takes slices, arrays, `Vec`, `VecDeque` and sets whose elements implement \
            `Display`; write `{{name:json}}` for other data"
)]
pub trait PromptList {
    /// Writes one line per element.
    ///
    /// # Errors
    /// As `to` or an element's `Display` fails.
    fn write_list(&self, to: &mut dyn Write) -> fmt::Result;
}

/// A value that fills `{field:json}`: anything that serializes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as `:json`",
    label = "has no `Serialize`",
    note = "derive `serde::Serialize` for it; write `{{name:attach}}` for an image or a file"
)]
pub trait PromptJson {
    /// Writes the value as JSON on one line.
    ///
    /// # Errors
    /// If the value has no JSON form, such as a map whose keys are lists.
    fn write_json(&self, to: &mut dyn Write) -> fmt::Result;
}

/// A value that fills `{field:or(text)}`: an [`Option`] of something with [`Display`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written with `:or(...)`",
    label = "not an `Option` of a value with `Display`",
    note = "`:or(...)` says what stands for an absent `Option`; write `{{name}}` for a value that \
            is always there"
)]
pub trait PromptOption {
    /// Writes the value, or `absent`.
    ///
    /// # Errors
    /// As `to` or the value's `Display` fails.
    fn write_or(&self, absent: &str, to: &mut dyn Write) -> fmt::Result;
}

impl<T: Display> PromptOption for Option<T> {
    fn write_or(&self, absent: &str, to: &mut dyn Write) -> fmt::Result {
        match self {
            Some(value) => write!(to, "{value}"),
            None => to.write_str(absent),
        }
    }
}

impl<T: PromptOption + ?Sized> PromptOption for &T {
    fn write_or(&self, absent: &str, to: &mut dyn Write) -> fmt::Result {
        (**self).write_or(absent, to)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> PromptJson for T {
    fn write_json(&self, to: &mut dyn Write) -> fmt::Result {
        serde_json::to_writer(Bytes { text: to }, self).map_err(|_| fmt::Error)
    }
}

/// Lets `serde_json`, which writes bytes, write into a text.
struct Bytes<'a> {
    text: &'a mut dyn Write,
}

impl std::io::Write for Bytes<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // serde_json never splits a character.
        let text = std::str::from_utf8(bytes).map_err(std::io::Error::other)?;
        self.text.write_str(text).map_err(std::io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Writes `- item` lines; `(none)` tells the model that there is nothing, where an
/// empty text would look like a mistake.
fn write_items<'a, T: PromptItem + 'a>(
    items: impl Iterator<Item = &'a T>,
    to: &mut dyn Write,
) -> fmt::Result {
    let mut empty = true;
    for item in items {
        to.write_str(if empty { "- " } else { "\n- " })?;
        write!(Indented { text: to }, "{item}")?;
        empty = false;
    }
    if empty {
        to.write_str("(none)")
    } else {
        Ok(())
    }
}

/// Indents continuation lines, so that an element reads as one.
struct Indented<'a> {
    text: &'a mut dyn Write,
}

impl Write for Indented<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Most elements are of a few bytes, and of one line.
        if !text.bytes().any(|byte| byte == b'\n') {
            return self.text.write_str(text);
        }
        let mut lines = text.split('\n');
        self.text.write_str(lines.next().unwrap_or_default())?;
        for line in lines {
            write!(self.text, "\n  {line}")?;
        }
        Ok(())
    }
}

macro_rules! lists {
    ($([$($generics:tt)*] $list:ty),* $(,)?) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: PromptItem, $($generics)*> PromptList for $list {
            fn write_list(&self, to: &mut dyn Write) -> fmt::Result {
                write_items(self.iter(), to)
            }
        }
    )*};
}
lists!([] Vec<T>, [] VecDeque<T>, [] BTreeSet<T>, [] [T], [const N: usize] [T; N]);

#[diagnostic::do_not_recommend]
impl<T: PromptItem, H> PromptList for HashSet<T, H> {
    /// Sorted: the set's own order changes between runs, and a prompt should not.
    fn write_list(&self, to: &mut dyn Write) -> fmt::Result {
        let mut items: Vec<String> = self.iter().map(|item| format!("{item}")).collect();
        items.sort_unstable();
        write_items(items.iter(), to)
    }
}

macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<L: PromptList + ?Sized> PromptList for $pointer {
            fn write_list(&self, to: &mut dyn Write) -> fmt::Result {
                (**self).write_list(to)
            }
        }
    )*};
}
pointers!(&L, Arc<L>, Box<L>);
