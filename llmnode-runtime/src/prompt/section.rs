//! Which part of a prompt is being written, so that a message about a fault can name it.

use std::fmt::{self, Display};

/// Its `Display` begins a message; it is empty for the prompt itself, which needs no name.
#[derive(Clone, Copy, Default)]
pub(crate) enum Section {
    #[default]
    Prompt,
    Examples,
    Example(usize),
}

impl Display for Section {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Section::Prompt => Ok(()),
            Section::Examples => to.write_str("examples: "),
            Section::Example(number) => write!(to, "example {number}: "),
        }
    }
}
