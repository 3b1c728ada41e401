//! Which repairs were made, where first, and how often.

#[derive(Debug, Default, Clone)]
pub(in super::super) struct Repairs(Vec<Repaired>);

#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Repaired {
    pub(in super::super) kind: &'static str,
    pub(in super::super) at: usize,
    pub(in super::super) times: u32,
}

impl Repairs {
    pub(in super::super) fn add(&mut self, kind: &'static str, at: usize) {
        match self.0.iter_mut().find(|repaired| repaired.kind == kind) {
            Some(repaired) => repaired.times = repaired.times.saturating_add(1),
            None => self.0.push(Repaired { kind, at, times: 1 }),
        }
    }

    pub(super) fn times(&self, kind: &str) -> u32 {
        self.0
            .iter()
            .find(|repaired| repaired.kind == kind)
            .map_or(0, |repaired| repaired.times)
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in super::super) fn iter(&self) -> impl Iterator<Item = &Repaired> {
        self.0.iter()
    }
}
