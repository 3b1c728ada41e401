//! What a map over a batch API holds of the limits, and what its batches used so far.
//!
//! In: what each answer of a batch used, and the name of the batch that is under
//! way. Out: the mean that the next requests reserve, if the program wants it so,
//! and the name for the message to others, who would wait for that batch.

use std::sync::{Arc, Mutex};

use llmnode_model::internal::lock;

use super::batch_name::BatchName;
use super::meter::{Amount, Meter};
use super::prior_spend::PriorSpend;
use crate::money::Money;

/// What is reserved for a request is the mean times this, in tenths.
const MARGIN_TENTHS: u64 = 13;
const TENTHS: u64 = 10;

/// Shared by all calls of a map over a batch API.
#[derive(Default)]
pub(crate) struct BatchRoom {
    reserves_mean: bool,
    name: Arc<BatchName>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    answers: u64,
    tokens: u64,
    money: u128,
    /// A whole batch was read: a mean of its first lines could be far off.
    is_read: bool,
    /// Where the map's requests reserve.
    meters: Vec<Arc<Meter>>,
}

impl BatchRoom {
    pub(crate) fn new(reserves_mean: bool) -> Self {
        BatchRoom {
            reserves_mean,
            name: Arc::default(),
            state: Mutex::default(),
        }
    }

    /// Counts what batches of earlier processes used.
    pub(crate) fn add_prior_spend(&self, prior: &PriorSpend) {
        let state = &mut *lock(&self.state);
        let spent = &prior.of_batches;
        let tokens = u64::try_from(spent.tokens).unwrap_or(u64::MAX);
        state.answers += u64::try_from(spent.requests).unwrap_or(u64::MAX);
        state.tokens = state.tokens.saturating_add(tokens);
        state.money = state.money.saturating_add(spent.money.0);
        state.is_read |= state.answers > 0;
    }

    pub(super) fn answered(&self, tokens: u64, money: Money) {
        let state = &mut *lock(&self.state);
        state.answers += 1;
        state.tokens = state.tokens.saturating_add(tokens);
        state.money = state.money.saturating_add(money.0);
    }

    /// What a request reserves in place of the most that it can use. `None`: that.
    pub(super) fn mean(&self) -> Option<Amount> {
        let state = lock(&self.state);
        if !self.reserves_mean || !state.is_read || state.answers == 0 {
            return None;
        }
        let tokens = state.tokens.saturating_mul(MARGIN_TENTHS) / TENTHS / state.answers;
        let money = state.money.saturating_mul(MARGIN_TENTHS.into());
        Some(Amount {
            tokens,
            money: Money(money / u128::from(TENTHS) / u128::from(state.answers)),
        })
    }

    /// A batch was read to its end. If the mean is known from now on, calls that
    /// wait for room look again: returns whether.
    pub(crate) fn has_read(&self) -> bool {
        let mut state = lock(&self.state);
        if !self.reserves_mean || state.is_read || state.answers == 0 {
            return false;
        }
        state.is_read = true;
        let meters = std::mem::take(&mut state.meters);
        // Wakers are the executor's code: none is called under the lock.
        drop(state);
        for meter in &meters {
            meter.look_again();
        }
        true
    }

    /// Notes a meter at which a request of the map reserves or waits.
    pub(super) fn reserves_at(&self, meters: &[Arc<Meter>]) {
        let state = &mut *lock(&self.state);
        if !self.reserves_mean || state.is_read {
            return;
        }
        for meter in meters {
            let is_listed = state.meters.iter().any(|listed| Arc::ptr_eq(listed, meter));
            if !is_listed {
                state.meters.push(Arc::clone(meter));
            }
        }
    }

    /// A batch of the map was created, or found again.
    pub(crate) fn is_in(&self, batch: &str) {
        self.name.set(batch);
    }

    pub(super) fn name(&self) -> &Arc<BatchName> {
        &self.name
    }
}
