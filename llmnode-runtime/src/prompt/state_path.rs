//! Where in a prompt the state is read, as part of a type's name.

use std::marker::PhantomData;
use std::ops::Deref;

/// A line of a prompt, from 1.
#[derive(Debug)]
pub struct Line<const NUMBER: usize>;

/// A column of a prompt's line, in characters, from 1.
#[derive(Debug)]
pub struct Column<const NUMBER: usize>;

/// The value that a step of a prompt's path is read from; `Location` is the position of the step.
///
/// It only improves a message: whether a path exists in the state is decided by
/// types, for which the compiler can underline only the whole prompt. So the type
/// that it names carries the position.
#[derive(Debug)]
pub struct PromptAt<Location, T> {
    read: T,
    place: PhantomData<Location>,
}

/// Reads a step of a path at a line and column of a prompt.
pub const fn prompt_at<const LINE: usize, const COLUMN: usize, T>(
    read: T,
) -> PromptAt<(Line<LINE>, Column<COLUMN>), T> {
    PromptAt {
        read,
        place: PhantomData,
    }
}

/// The same in a prompt file, which the type `File` represents.
pub const fn prompt_file_at<File, const LINE: usize, const COLUMN: usize, T>(
    read: T,
) -> PromptAt<(File, Line<LINE>, Column<COLUMN>), T> {
    PromptAt {
        read,
        place: PhantomData,
    }
}

impl<Location, T> Deref for PromptAt<Location, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.read
    }
}
