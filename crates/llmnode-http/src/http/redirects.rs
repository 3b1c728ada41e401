//! Where on the same server requests go, once it has said that they belong elsewhere.

use std::sync::{Mutex, MutexGuard, PoisonError};

use reqwest::Url;

/// A server may send a request on this often before it counts as a circle.
const HOPS: usize = 5;

/// The places that redirects led to, the newest last. A redirect is learned like a refusal, so that each request
/// is an attempt of its own in the ledger, and the next call goes to the right place at once.
#[derive(Debug, Default)]
pub(crate) struct Redirects(Mutex<Vec<Url>>);

impl Redirects {
    /// The place to ask at.
    pub(crate) fn current(&self, endpoint: &Url) -> Url {
        self.lock().last().unwrap_or(endpoint).clone()
    }

    /// Remembers that this place sends requests to another. Whether there is a place left to ask at.
    pub(crate) fn learn(&self, endpoint: &Url, asked: &Url, target: &Url) -> bool {
        let mut places = self.lock();
        if places.last().unwrap_or(endpoint) != asked {
            // Another request in flight has learned it.
            return true;
        }
        if target == endpoint || places.contains(target) || places.len() >= HOPS {
            places.clear();
            return false;
        }
        places.push(target.clone());
        true
    }

    /// The place is gone: the next request begins at the endpoint.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Url>> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
