//! Text from outside, in a fence of backticks that it cannot close.
//!
//! In Markdown (CommonMark) a fence is closed by a line of at least as many
//! backticks as opened it. So the fence is one backtick longer than the longest run
//! of them in the text, wherever in a line that is.
//!
//! Retrieved text writes its own fence, however its `Display` gets into a prompt.
//! The flag `-`, which the implementations of std ignore, asks for the text without
//! it.

use std::fmt::{self, Display, Write};

/// A value that fills `{field:fence}`: text from outside, by its [`Display`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as `:fence`",
    label = "has no `Display`",
    note = "`:fence` takes text, such as a `String`; hold the value in a field as the text that \
            the model is to read"
)]
pub trait PromptFence {
    /// Writes the text between two lines of backticks.
    ///
    /// # Errors
    /// As `to` or the value's `Display` fails.
    fn write_fence(&self, to: &mut dyn Write) -> fmt::Result;
}

#[diagnostic::do_not_recommend]
impl<T: Display> PromptFence for T {
    fn write_fence(&self, to: &mut dyn Write) -> fmt::Result {
        // Formatted once, so that the text that is measured is also the one that is written.
        let mut text = String::new();
        write!(text, "{self:-}")?;
        let fence = "`".repeat(longest_run(&text).saturating_add(1).max(3));
        let end = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        for piece in [&fence, "\n", &text, end, &fence] {
            to.write_str(piece)?;
        }
        Ok(())
    }
}

/// The text between two lines of backticks.
pub(crate) fn fenced(text: &str) -> String {
    let mut to = String::new();
    // Writing to a `String` does not fail.
    let _ = text.write_fence(&mut to);
    to
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fenced;

    #[test]
    fn fences() {
        assert_eq!(fenced("a"), "```\na\n```");
        assert_eq!(fenced("a\n"), "```\na\n```");
        assert_eq!(fenced("a\n\n"), "```\na\n\n```");
        assert_eq!(fenced(""), "```\n```");
        assert_eq!(fenced("``` ignore"), "````\n``` ignore\n````");
        assert_eq!(fenced("a `````"), "``````\na `````\n``````");
        assert_eq!(
            fenced("~~~\u{2028}```\r````"),
            "`````\n~~~\u{2028}```\r````\n`````"
        );
    }

    #[test]
    fn a_long_text_of_backticks() {
        let text = "`".repeat(1 << 20);
        assert_eq!(fenced(&text).len(), 3 * text.len() + 4);
    }

    /// Text that is rich in what could close a fence.
    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "`{1,6}",
            prop::sample::select(vec![
                "\n", "\r", "\r\n", "\u{2028}", "\u{85}", "\u{c}", " ", "\t", "~~~", ">", "a"
            ])
            .prop_map(str::to_owned),
            any::<String>(),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_text_closes_its_fence(text in texts()) {
            let fenced = fenced(&text);
            let fence = fenced.lines().next().unwrap();
            prop_assert!(fence.len() >= 3 && fence.bytes().all(|byte| byte == b'`'));
            let inside = fenced.strip_prefix(fence).unwrap().strip_suffix(fence).unwrap();
            // Not on a line of its own, nor anywhere else, whatever ends a line.
            prop_assert!(!inside.contains(fence));
            prop_assert!(inside.ends_with('\n'));
            let text = text.strip_suffix('\n').unwrap_or(&text);
            prop_assert!(inside[1..].starts_with(text));
        }
    }
}
