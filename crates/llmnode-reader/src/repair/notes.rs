//! Which repairs were made, where first, and how often.

/// One entry for each kind: an answer with a thousand missing commas is one repair, a thousand times.
#[derive(Debug, Default, Clone)]
pub(in super::super) struct Repairs {
    by_kind: Vec<Repaired>,
}

#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Repaired {
    pub(in super::super) kind: &'static str,
    /// The byte of the first one.
    pub(in super::super) at: usize,
    pub(in super::super) times: u32,
}

impl Repairs {
    pub(in super::super) fn add(&mut self, kind: &'static str, at: usize) {
        match self
            .by_kind
            .iter_mut()
            .find(|repaired| repaired.kind == kind)
        {
            Some(repaired) => repaired.times = repaired.times.saturating_add(1),
            None => self.by_kind.push(Repaired { kind, at, times: 1 }),
        }
    }

    pub(super) fn times(&self, kind: &str) -> u32 {
        self.by_kind
            .iter()
            .find(|repaired| repaired.kind == kind)
            .map_or(0, |repaired| repaired.times)
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.by_kind.is_empty()
    }

    pub(in super::super) fn iter(&self) -> impl Iterator<Item = &Repaired> {
        self.by_kind.iter()
    }
}
