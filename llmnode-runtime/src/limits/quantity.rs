//! One figure of a scope.

/// What is spent of something, and what requests in flight have reserved of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) spent: u128,
    pub(super) reserved: u128,
}

impl Quantity {
    pub(super) fn reserve(&mut self, amount: u128) {
        self.reserved = self.reserved.saturating_add(amount);
    }

    /// Puts what was spent in the place of what was reserved.
    pub(super) fn settle(&mut self, reserved: u128, spent: u128) {
        self.reserved = self.reserved.saturating_sub(reserved);
        self.spent = self.spent.saturating_add(spent);
    }

    pub(super) fn is_full(&self, limit: u128) -> bool {
        self.spent.saturating_add(self.reserved) >= limit
    }
}
