//! Which repairs were made, where first, and how often.

/// One entry for each kind: an answer with a thousand missing commas is one repair,
/// a thousand times.
#[derive(Debug, Default, Clone)]
pub(in super::super) struct Repairs {
    by_kind: Vec<Repaired>,
}

/// The repairs of one kind.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Repaired {
    pub(in super::super) kind: &'static str,
    /// The byte of the first one.
    pub(in super::super) at: usize,
    pub(in super::super) times: u32,
}

impl Repairs {
    /// Counts one more repair of this kind. The place of the first one is kept.
    pub(in super::super) fn add(&mut self, kind: &'static str, at: usize) {
        for repaired in &mut self.by_kind {
            if repaired.kind == kind {
                repaired.times = repaired.times.saturating_add(1);
                return;
            }
        }
        self.by_kind.push(Repaired { kind, at, times: 1 });
    }

    /// How often this kind was repaired so far, so that a parser sees whether a
    /// part of the text needed it.
    pub(super) fn times(&self, kind: &str) -> u32 {
        for repaired in &self.by_kind {
            if repaired.kind == kind {
                return repaired.times;
            }
        }
        0
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.by_kind.is_empty()
    }

    pub(in super::super) fn iter(&self) -> impl Iterator<Item = &Repaired> {
        self.by_kind.iter()
    }
}
