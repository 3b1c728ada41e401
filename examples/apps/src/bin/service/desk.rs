//! The tenants' data, which changes while the service runs.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// What the calls for a tenant read: the state of its runs. A request loads a copy of its own, so what is large is shared.
#[derive(Clone)]
pub struct Tenant {
    pub teams: Arc<[String]>,
    /// What each letter ends with.
    pub signature: String,
}

/// Stands for the database.
#[derive(Clone, Default)]
pub struct Desk(Arc<RwLock<BTreeMap<String, Tenant>>>);

impl Desk {
    /// A desk with one tenant.
    pub fn with_acme() -> Desk {
        let desk = Desk::default();
        let teams = ["billing", "defects", "inbox"].map(str::to_owned).into();
        desk.write(|tenants| {
            tenants.insert(
                "acme".into(),
                Tenant {
                    teams,
                    signature: "Your Acme team".into(),
                },
            )
        });
        desk
    }

    pub fn load(&self, tenant: &str) -> Option<Tenant> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(tenant)
            .cloned()
    }

    /// `None`: there is no such tenant.
    pub fn set_teams(&self, tenant: &str, teams: Vec<String>) -> Option<()> {
        self.write(|tenants| {
            tenants
                .get_mut(tenant)
                .map(|tenant| tenant.teams = teams.into())
        })
    }

    fn write<T>(&self, change: impl FnOnce(&mut BTreeMap<String, Tenant>) -> T) -> T {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }
}
