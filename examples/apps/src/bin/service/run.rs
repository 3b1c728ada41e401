//! The one run of the process, and what its calls cost.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use llmnode::prelude::*;
use llmnode::{CallRecord, CallReport, Cost, Exec};

/// The run of the whole service. Its prices are made up; `Prices::catalog()` has real ones.
pub fn run(model: impl ChatModel + 'static, bill: Bill) -> Run {
    let name = model.model().unwrap_or("stub").to_owned();
    Run::new(model)
        .with_settings(settings())
        .with_prices(Prices::new().model(name, Price::per_million(2.0, 8.0)))
        .on_call(move |record| bill.add(record))
}

/// What holds for all calls. An attempt that hangs is tried again well before the deadline of its call.
pub fn settings() -> Settings {
    Settings::new().attempt_timeout(Duration::from_secs(5))
}

/// Calls a node on the tenant's data of this moment.
pub async fn call<N, S>(
    run: &Run,
    tenant: &str,
    data: S,
    node: &N,
) -> Result<CallReport<N::Output>, NodeError>
where
    N: Exec<S>,
    S: Send + Sync,
{
    run.with_state(data)
        .call(node)
        .label("tenant", tenant)
        .report()
        .await
}

/// What each tenant's calls cost, failed ones included.
#[derive(Clone, Default)]
pub struct Bill(Arc<Mutex<BTreeMap<String, Cost>>>);

impl Bill {
    fn add(&self, record: &CallRecord) {
        let tenant = record.labels.get("tenant").cloned().unwrap_or_default();
        *self.lock().entry(tenant).or_default() += record.usage().cost;
    }

    pub fn costs(&self) -> BTreeMap<String, Cost> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Cost>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
