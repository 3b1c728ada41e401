//! What is spent and reserved of one quantity.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) spent: u128,
    pub(super) reserved: u128,
}

impl Quantity {
    pub(super) fn reserve(&mut self, amount: u128) {
        self.reserved = self.reserved.saturating_add(amount);
    }

    pub(super) fn settle(&mut self, reserved: u128, spent: u128) {
        self.reserved = self.reserved.saturating_sub(reserved);
        self.spent = self.spent.saturating_add(spent);
    }

    pub(super) fn is_full(&self, limit: u128) -> bool {
        self.spent.saturating_add(self.reserved) >= limit
    }
}
