//! Random numbers that are the same for the same seed on every machine.

/// Random numbers that depend on the seed alone (SplitMix64). Not for secrets.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next_number()) * end as u128;
        (wide >> 64) as usize
    }

    /// Puts the items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_order_and_all_items_stay() {
        let shuffled = |seed| {
            let mut items: Vec<_> = (0..50).collect();
            Random::new(seed).shuffle(&mut items);
            items
        };
        assert_eq!(shuffled(7), shuffled(7));
        assert_ne!(shuffled(7), shuffled(8));
        let mut sorted = shuffled(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let mut random = Random::new(1);
        let mut counts = [0_u32; 6];
        (0..60_000).for_each(|_| counts[random.below(6)] += 1);
        assert!(
            counts.iter().all(|count| (9_500..10_500).contains(count)),
            "{counts:?}"
        );
        assert_eq!(random.below(0), 0);
    }
}
