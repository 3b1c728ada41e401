//! Which repairs were made, where first, and how often.

use crate::flag::Repair;

/// The repairs of one text, in the order of the first of each kind.
#[derive(Debug, Default, Clone)]
pub(in super::super) struct Repairs(Vec<Noted>);

/// One kind of repair.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Noted {
    pub(in super::super) repair: Repair,
    /// Where it was made first.
    pub(in super::super) at: usize,
    pub(in super::super) times: u32,
}

impl Repairs {
    pub(in super::super) fn add(&mut self, repair: Repair, at: usize) {
        match self.0.iter_mut().find(|noted| noted.repair == repair) {
            Some(noted) => {
                noted.times = noted.times.saturating_add(1);
                noted.at = noted.at.min(at);
            }
            None => self.0.push(Noted { repair, at, times: 1 }),
        }
    }

    pub(in super::super) fn has(&self, repair: Repair) -> bool {
        self.0.iter().any(|noted| noted.repair == repair)
    }

    pub(in super::super) fn times(&self, repair: Repair) -> usize {
        let times = self.0.iter().find(|noted| noted.repair == repair).map_or(0, |noted| noted.times);
        usize::try_from(times).unwrap_or(usize::MAX)
    }

    pub(in super::super) fn none_but_duplicates(&self) -> bool {
        self.0.iter().all(|noted| noted.repair == Repair::DuplicateKey)
    }

    pub(in super::super) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    pub(in super::super) fn extend(&mut self, other: &Repairs) {
        for noted in &other.0 {
            self.add(noted.repair, noted.at);
            if let Some(mine) = self.0.iter_mut().find(|mine| mine.repair == noted.repair) {
                mine.times = mine.times.saturating_add(noted.times - 1);
            }
        }
    }

    pub(in super::super) fn iter(&self) -> impl Iterator<Item = &Noted> {
        self.0.iter()
    }
}
