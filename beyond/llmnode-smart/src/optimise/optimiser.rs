//! Whichever optimiser is at work.

use llmnode_runtime::Limits;

use super::bootstrap::Bootstrap;
use super::reflect::Reflect;

pub(super) enum Optimiser {
    Bootstrap(Bootstrap),
    Reflect(Reflect),
}

impl Optimiser {
    pub(super) fn limits(&self) -> Limits {
        match self {
            Optimiser::Bootstrap(bootstrap) => bootstrap.limits,
            Optimiser::Reflect(reflect) => reflect.limits,
        }
    }

    pub(super) fn fault(&self) -> Option<String> {
        match self {
            Optimiser::Bootstrap(bootstrap) => bootstrap.fault(),
            Optimiser::Reflect(_) => None,
        }
    }

    pub(super) fn needs(&self, train: usize, validation: usize) -> u64 {
        match self {
            Optimiser::Bootstrap(bootstrap) => bootstrap.needs(train, validation),
            Optimiser::Reflect(reflect) => reflect.needs(train, validation),
        }
    }
}
