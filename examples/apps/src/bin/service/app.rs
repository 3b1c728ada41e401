//! The routes.

use std::collections::BTreeMap;

use axum::extract::{Path, State};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use llmnode::prelude::*;
use llmnode::{Cost, Exec, UsedFallback};
use serde::Serialize;

use crate::desk::{Desk, Tenant};
use crate::nodes::{DraftReply, Invoice, Letter, ReadInvoice, SortTicket, Triage};
use crate::problem::Problem;
use crate::run::{Bill, call};

/// What all requests share. A clone of a `Run` shares its models, ledger and limits.
#[derive(Clone)]
pub struct App {
    pub run: Run,
    pub desk: Desk,
    pub bill: Bill,
}

impl App {
    pub fn router(self) -> Router {
        Router::new()
            .route("/tenants/{tenant}/triage", post(triage))
            .route("/tenants/{tenant}/reply", post(reply))
            .route("/tenants/{tenant}/invoice", post(invoice))
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
        let report = call(&self.run, tenant, state, &node).await?;
        let (used_fallback, cost) = (report.record.used_fallback, report.record.usage().cost);
        Ok(Json(Answer {
            result: report.value,
            used_fallback,
            cost,
        }))
    }
}

/// A result, whether it is a fallback, and what it cost.
#[derive(Serialize)]
struct Answer<T> {
    result: T,
    used_fallback: Option<UsedFallback>,
    cost: Cost,
}

type Answered<T> = Result<Json<Answer<T>>, Problem>;

async fn triage(
    State(app): State<App>,
    Path(tenant): Path<String>,
    ticket: String,
) -> Answered<Triage> {
    app.call(&tenant, SortTicket { ticket }).await
}

async fn reply(
    State(app): State<App>,
    Path(tenant): Path<String>,
    ticket: String,
) -> Answered<Letter> {
    app.call(&tenant, DraftReply { ticket }).await
}

/// Reads the client's own text, so the client learns what is wrong with it.
async fn invoice(
    State(app): State<App>,
    Path(tenant): Path<String>,
    text: String,
) -> Answered<Invoice> {
    app.call(&tenant, ReadInvoice { text })
        .await
        .map_err(Problem::of_text)
}

async fn set_teams(
    State(app): State<App>,
    Path(tenant): Path<String>,
    Json(teams): Json<Vec<String>>,
) -> Result<(), Problem> {
    app.desk
        .set_teams(&tenant, teams)
        .ok_or(Problem::UnknownTenant)
}

async fn costs(State(app): State<App>) -> Json<BTreeMap<String, Cost>> {
    Json(app.bill.costs())
}
