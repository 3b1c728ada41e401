//! The routes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use llmnode::prelude::*;
use llmnode::{CallRecord, ChatModel, Cost, Degraded, Exec};
use serde::Serialize;

use crate::desk::{Desk, Tenant};
use crate::nodes::{DraftReply, Letter, SortTicket, Triage};
use crate::problem::Problem;

/// What all requests share. A clone of a `Run` shares its models, ledger and limits.
#[derive(Clone)]
pub struct App {
    pub run: Run,
    pub desk: Desk,
    pub bill: Bill,
}

/// The run of the whole service.
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

impl App {
    pub fn router(self) -> Router {
        Router::new()
            .route("/tenants/{tenant}/triage", post(triage))
            .route("/tenants/{tenant}/reply", post(reply))
            .route("/tenants/{tenant}/teams", put(set_teams))
            .route("/costs", get(costs))
            .with_state(self)
    }

    /// Calls a node on the tenant's data as they are now.
    async fn call<N>(&self, tenant: &str, node: N) -> Result<Json<Answer<N::Output>>, Problem>
    where
        N: Exec<Tenant>,
    {
        let state = self.desk.load(tenant).ok_or(Problem::UnknownTenant)?;
        let report = self.run.with_state(state).call(&node).label("tenant", tenant).report().await?;
        let (degraded, cost) = (report.record.degraded, report.record.usage().cost);
        Ok(Json(Answer { result: report.value, degraded, cost }))
    }
}

/// A result, whether it is a fallback, and what it cost.
#[derive(Serialize)]
struct Answer<T> {
    result: T,
    degraded: Option<Degraded>,
    cost: Cost,
}

type Answered<T> = Result<Json<Answer<T>>, Problem>;

async fn triage(State(app): State<App>, Path(tenant): Path<String>, ticket: String) -> Answered<Triage> {
    app.call(&tenant, SortTicket { ticket }).await
}

async fn reply(State(app): State<App>, Path(tenant): Path<String>, ticket: String) -> Answered<Letter> {
    app.call(&tenant, DraftReply { ticket }).await
}

async fn set_teams(
    State(app): State<App>,
    Path(tenant): Path<String>,
    Json(teams): Json<Vec<String>>,
) -> Result<(), Problem> {
    app.desk.set_teams(&tenant, teams).ok_or(Problem::UnknownTenant)
}

async fn costs(State(app): State<App>) -> Json<BTreeMap<String, Cost>> {
    Json(app.bill.costs())
}
