//! Redirects within the same server, which are remembered.
//!
//! They are not followed within a request: with most statuses a POST would become a
//! GET, and each request has to be an attempt with its own record. The first
//! attempt fails with the target learned, the next one asks it.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::url::Url;

/// As many as a call has requests that are asked in another way.
const MAX_HOPS: usize = 4;

/// Newest last. Learned like a refusal: each request is an attempt, and the next
/// call starts at the target.
#[derive(Debug, Default)]
pub(crate) struct Redirects(Mutex<Vec<Url>>);

impl Redirects {
    /// Where to send the next request.
    pub(crate) fn current<'e>(&self, endpoint: &'e Url) -> Cow<'e, Url> {
        match self.lock().last() {
            Some(target) => Cow::Owned(target.clone()),
            None => Cow::Borrowed(endpoint),
        }
    }

    /// Returns whether there is another target to ask.
    pub(crate) fn learn(&self, endpoint: &Url, from: &Url, target: &Url) -> bool {
        let mut places = self.lock();
        if places.last().unwrap_or(endpoint) != from {
            // A concurrent request has learned it.
            return true;
        }
        if target == endpoint || places.contains(target) || places.len() >= MAX_HOPS {
            places.clear();
            return false;
        }
        places.push(target.clone());
        true
    }

    /// The target is gone: the next request starts at the endpoint.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Url>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
