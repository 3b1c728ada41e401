/// SplitMix64: small, and the same everywhere and for ever, which the standard library's hasher is not.
pub(super) struct Rng(u64);

impl Rng {
    /// Seeded by the FNV-1a hash of these texts.
    pub(super) fn from_parts(parts: &[String]) -> Self {
        let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xff]));
        Self(bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `lo..=hi`; `lo` if that is empty. The bias of the remainder is no matter here.
    pub(super) fn between(&mut self, lo: usize, hi: usize) -> usize {
        self.between_wide(lo as i128, hi as i128) as usize
    }

    /// The same for integers of at most 64 bits and a sign.
    pub(super) fn between_wide(&mut self, lo: i128, hi: i128) -> i128 {
        let next = i128::from(self.next());
        if lo >= hi { lo } else { lo + next % hi.saturating_sub(lo).saturating_add(1) }
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.between(0, from.len().saturating_sub(1)))
    }

    /// True in `of` draws out of `all`.
    pub(super) fn chance(&mut self, of: usize, all: usize) -> bool {
        self.between(1, all) <= of
    }

    /// A number strictly between 0 and 1.
    pub(super) fn fraction(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }
}
