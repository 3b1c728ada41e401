//! Choices, drawn from the bytes of an input: the same bytes make the same choices. When they are used up, the first
//! choice is made, so that all ends.

pub(crate) struct Draw<'b> {
    bytes: std::slice::Iter<'b, u8>,
}

impl<'b> Draw<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Draw {
            bytes: bytes.iter(),
        }
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or(0)
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.bytes.as_slice().is_empty()
    }

    /// From 0 to less than `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let mut drawn = usize::from(self.byte());
        if end > 256 {
            drawn = drawn << 8 | usize::from(self.byte());
        }
        drawn % end.max(1)
    }

    /// True once in `times`, and never when there are no bytes any more.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub(crate) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}
