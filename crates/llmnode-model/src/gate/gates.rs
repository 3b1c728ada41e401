//! The gates of an endpoint and a key, one for each model, and the pace that all of them keep.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::lanes::{Lanes, Paced};
use super::line::Gate;
use crate::pace::Pace;
use crate::panics::lock;

/// The gates of an endpoint and a key, one for each model. Clones share them.
#[derive(Clone, Default)]
pub struct Gates(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Something was refused once: until then, nobody needs to look.
    active: Arc<AtomicBool>,
    gates: Mutex<Vec<Known>>,
    lanes: Option<Mutex<Lanes>>,
}

struct Known {
    owner: usize,
    model: Box<str>,
    gate: Arc<Gate>,
}

impl Gates {
    /// Gates before which all requests keep a pace.
    pub fn of_pace(pace: Option<Pace>) -> Self {
        let lanes = pace.map(|pace| Mutex::new(Lanes::new(pace)));
        Gates(Arc::new(Shared {
            lanes,
            ..Shared::default()
        }))
    }

    /// Takes a request's part of the pace. `prompt`: its tokens, estimated. `None`:
    /// there is no pace.
    pub fn take_pace(&self, now: Instant, prompt: u64) -> Option<PaceTicket> {
        let paced = lock(self.0.lanes.as_ref()?).take(now, prompt);
        Some(PaceTicket {
            gates: self.clone(),
            paced,
            is_sent: false,
        })
    }

    /// Returns whether all requests keep a pace.
    pub fn are_paced(&self) -> bool {
        self.0.lanes.is_some()
    }

    /// Returns the gate of a model. `owner` tells models apart that share these
    /// gates and may have the same name.
    pub fn of(&self, owner: usize, model: &str) -> Arc<Gate> {
        let mut gates = lock(&self.0.gates);
        if let Some(found) = gates
            .iter()
            .find(|one| one.owner == owner && *one.model == *model)
        {
            return Arc::clone(&found.gate);
        }
        let gate = Arc::new(Gate::new(Arc::clone(&self.0.active)));
        gates.push(Known {
            owner,
            model: model.into(),
            gate: Arc::clone(&gate),
        });
        gate
    }

    /// Returns whether nothing was ever refused.
    pub fn are_idle(&self) -> bool {
        !self.0.active.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gates")
            .field("idle", &self.are_idle())
            .finish()
    }
}

/// What a request took of the pace. Dropped before it was sent, it gives that back.
pub struct PaceTicket {
    gates: Gates,
    paced: Paced,
    is_sent: bool,
}

impl PaceTicket {
    /// Returns when the request may be sent.
    pub fn at(&self) -> Instant {
        self.paced.at
    }

    /// It is sent.
    pub fn sent(&mut self) {
        self.is_sent = true;
    }

    /// The provider has counted its tokens.
    pub fn counted(&self, total: u64, output: Option<u64>) {
        self.gates
            .0
            .lanes
            .iter()
            .for_each(|lanes| lock(lanes).counted(self.paced, total, output));
    }
}

impl Drop for PaceTicket {
    fn drop(&mut self) {
        if !self.is_sent {
            self.gates
                .0
                .lanes
                .iter()
                .for_each(|lanes| lock(lanes).give_back(self.paced));
        }
    }
}
