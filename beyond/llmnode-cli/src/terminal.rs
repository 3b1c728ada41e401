//! What is written to a terminal: texts of files, models and servers move no cursor there, and change no colour and no title.

use std::error::Error;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

use llmnode_reader::text::{is_hidden, visible};

/// To the standard error. A terminal that is gone is no failure.
pub(crate) fn print_line(text: &str) {
    let _ = writeln!(stderr(), "{}", visible(text));
}

/// What has colours of its own: its texts were made harmless before.
pub(crate) fn print_styled(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}

/// To the standard output, where a program may read it as it is. A reader such as `head` may close the pipe early.
pub(crate) fn print(text: &str) -> Result<(), Box<dyn Error>> {
    let written = if stdout().is_terminal() {
        writeln!(stdout(), "{}", visible(text))
    } else {
        writeln!(stdout(), "{text}")
    };
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// A text with marks in it: what a person would not see becomes something of the same length.
pub(crate) fn same_length(text: &str) -> String {
    text.chars()
        .map(|c: char| match c.len_utf8() {
            _ if !is_hidden(c) || c == '\r' => c.to_string(),
            1 => "?".to_owned(),
            2 => "\u{b7}".to_owned(),
            3 => "\u{fffd}".to_owned(),
            _ => "\u{fffd}?".to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_marks_keeps_its_length() {
        let text = "a\u{1b}[2J\u{9b}\u{202e}\u{e0041}é\r\n\t😀";
        let shown = same_length(text);
        assert_eq!(shown.len(), text.len());
        assert_eq!(shown, "a?[2J\u{b7}\u{fffd}\u{fffd}?é\r\n\t😀");
    }
}
