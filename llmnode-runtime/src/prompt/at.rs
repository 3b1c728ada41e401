//! Where in a prompt the state is read, as part of a type's name.

use std::ops::Deref;

/// The state as the prompt's variable at a line and column reads it.
///
/// It changes nothing but a message: whether a path exists in the state is a question of types, for which the
/// compiler can underline only the whole prompt. So the type that it names tells the place.
#[derive(Debug)]
pub struct PromptAt<const LINE: usize, const COLUMN: usize, T> {
    state: T,
}

/// Reads the state at a line and column of a prompt.
pub const fn prompt_at<const LINE: usize, const COLUMN: usize, T>(state: T) -> PromptAt<LINE, COLUMN, T> {
    PromptAt { state }
}

impl<const LINE: usize, const COLUMN: usize, T> Deref for PromptAt<LINE, COLUMN, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.state
    }
}
