/// Which of its values a schema is asked for, as a number: 0 is the first.
///
/// Lists without duplicates and the keys of maps need further values. Each choice takes one digit off the number,
/// to a base of its own, so that counting up leads through all combinations of choices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nth(usize);

impl Nth {
    pub(super) fn new(n: usize) -> Self {
        Self(n)
    }

    /// An index below `of`.
    pub(super) fn choose(&mut self, of: usize) -> usize {
        let of = of.max(1);
        let index = self.0 % of;
        self.0 /= of;
        index
    }

    /// All of the number that is left.
    pub(super) fn rest(&mut self) -> usize {
        std::mem::take(&mut self.0)
    }
}
