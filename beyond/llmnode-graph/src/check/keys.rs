//! Sets of keys of the state, as bits.

use std::collections::HashMap;

pub(super) const ERROR: &str = "error";

pub(super) struct Keys<'k> {
    pub(super) number: HashMap<&'k str, usize>,
}

impl<'k> Keys<'k> {
    pub(super) fn new(keys: impl Iterator<Item = &'k str>) -> Self {
        let mut number = HashMap::new();
        for key in keys {
            let next = number.len();
            number.entry(key).or_insert(next);
        }
        Keys { number }
    }

    pub(super) fn of(&self, key: &str) -> Option<usize> {
        self.number.get(key).copied()
    }
}

#[derive(Clone, Default, PartialEq)]
pub(super) struct KeySet(Vec<u64>);

impl KeySet {
    pub(super) fn new(keys: usize, full: bool) -> Self {
        KeySet(vec![if full { u64::MAX } else { 0 }; keys.div_ceil(64)])
    }

    pub(super) fn has(&self, key: usize) -> bool {
        self.0[key / 64] >> (key % 64) & 1 == 1
    }

    pub(super) fn put(&mut self, key: usize) {
        self.0[key / 64] |= 1 << (key % 64);
    }

    pub(super) fn join(&mut self, other: &KeySet, with: impl Fn(u64, u64) -> u64) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(one, other)| *one = with(*one, *other));
    }
}
