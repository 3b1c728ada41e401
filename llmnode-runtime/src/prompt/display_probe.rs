//! Checks whether a field has a `Display`, where the macro cannot know it.
//! Generated code checks it where the prompt names the field, by [`DisplayProbe`].
//! The field gets a segment in any case, by [`SegmentProbe`], so that there is no
//! second error.

use std::fmt::{self, Display};
use std::marker::PhantomData;

use super::segment::Segment;
use super::values::PromptValue;

/// A value that fills the variable `Name` at a line and column of a prompt:
/// anything that implements [`Display`].
#[diagnostic::on_unimplemented(
    message = "`{{{Name}}}` is of the type `{Self}`, which has no text of its own; write \
               `{{{Name}:attach}}` (at {LINE}:{COLUMN})",
    label = "has no `Display`",
    note = "`:attach` takes the images, files and sound of llmnode; a type of the program's own \
            implements `Display`"
)]
pub trait PromptText<Name, const LINE: usize, const COLUMN: usize> {}

#[diagnostic::do_not_recommend]
impl<T: Display, Name, const LINE: usize, const COLUMN: usize> PromptText<Name, LINE, COLUMN>
    for T
{
}

/// Takes the place of a field of the type `T` in a format string: it can be
/// displayed if the field can.
#[derive(Debug)]
pub struct DisplayProbe<T, Name, const LINE: usize, const COLUMN: usize>(PhantomData<(T, Name)>);

impl<T, Name, const LINE: usize, const COLUMN: usize> DisplayProbe<T, Name, LINE, COLUMN> {
    /// Creates the probe.
    #[expect(
        clippy::new_without_default,
        reason = "generated code alone makes it, in constants"
    )]
    pub const fn new() -> Self {
        DisplayProbe(PhantomData)
    }
}

impl<T: PromptText<Name, LINE, COLUMN>, Name, const LINE: usize, const COLUMN: usize> Display
    for DisplayProbe<T, Name, LINE, COLUMN>
{
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// A field that a prompt may not be able to write. Method resolution takes the
/// first of the two segments that fits.
#[derive(Debug)]
pub struct SegmentProbe<'a, T>(pub &'a T);

/// First choice: a value that a prompt can write.
pub trait ShowValue<'a> {
    /// The value as `Display` writes it.
    fn __segment(&self) -> Segment<'a>;
}

impl<'a, T: PromptValue> ShowValue<'a> for &SegmentProbe<'a, T> {
    fn __segment(&self) -> Segment<'a> {
        Segment::value(self.0)
    }
}

/// Last choice: another value, whose [`DisplayProbe`] does not compile.
pub trait ShowNothing {
    /// No text.
    fn __segment(&self) -> Segment<'static>;
}

impl<T> ShowNothing for SegmentProbe<'_, T> {
    fn __segment(&self) -> Segment<'static> {
        Segment::text("")
    }
}

#[cfg(test)]
mod tests {
    use super::{SegmentProbe, ShowNothing as _, ShowValue as _};

    #[test]
    #[expect(
        clippy::needless_borrow,
        reason = "as generated code has it, which cannot know the level"
    )]
    fn a_value_with_display_is_written() {
        struct Plain;
        assert_eq!((&&SegmentProbe(&5)).__segment().to_string(), "5");
        assert_eq!((&&SegmentProbe(&Plain)).__segment().to_string(), "");
    }
}
