//! Runs of a flow under a queue of jobs in Postgres: graphile_worker gives each job
//! to a worker, at least once. It finds dead workers, and tries again what failed;
//! the journal in a table is what makes that harmless.

use std::time::Duration;

use deadpool_postgres::{Pool, Transaction};
use graphile_worker::tokio_postgres::TokioPostgresDatabase;
use graphile_worker::{
    IntoTaskHandlerResult, JobSpec, TaskHandler, WorkerContext, WorkerOptions, WorkerUtils,
};
use llmnode::flow::RunExt;
use llmnode::journal::History;
use llmnode::prelude::*;
use llmnode::{Approval, Category, Group, Paused};
use llmnode_postgres::{Order, Support, TableJournal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize)]
struct GoOn {
    run: String,
    /// Executes again what is in doubt, if the journal has this many records.
    rerun_at: Option<i64>,
}

impl TaskHandler for GoOn {
    const IDENTIFIER: &'static str = "llmnode";

    async fn run(self, ctx: WorkerContext) -> impl IntoTaskHandlerResult {
        let pool = ctx.get_ext::<Pool>().ok_or("the worker has no pool")?;
        go_on(pool, self).await.map_err(|error| error.to_string())
    }
}

/// Goes on with a run until it ends or waits for a person. After an error, the
/// queue tries again later.
async fn go_on(pool: &Pool, job: GoOn) -> Result<(), BoxError> {
    let id = &job.run;
    let steps = steps(&history(pool, id).await?)?;
    // A decision holds for its step, also after a crash in it.
    let sql = "SELECT input, CASE WHEN decided AND steps = $2 THEN paused END, (SELECT count(*) \
               FROM llmnode_journal WHERE run = $1) FROM llmnode_run WHERE run = $1";
    let row = pool.get().await?.query_one(sql, &[id, &steps]).await?;
    let mut run =
        Run::new(OpenAi::from_env()?).with_state(serde_json::from_str::<Order>(row.get(0))?);
    let journal = TableJournal::new(pool, id);
    let mut flow = run.flow(Support).resume(journal.clone());
    if let Some(decided) = row.get::<_, Option<&str>>(1) {
        flow = flow.approve(serde_json::from_str::<Paused>(decided)?);
    }
    if job.rerun_at == Some(row.get(2)) {
        flow = flow.rerun();
    }
    match flow.await {
        Ok(()) => Ok(()),
        Err(error) => stopped(pool, id, error, journal.records()).await,
    }
}

async fn stopped(pool: &Pool, id: &str, error: NodeError, records: i64) -> Result<(), BoxError> {
    let history = history(pool, id).await?;
    let category = error.category();
    let paused = error.paused();
    // Another process has taken the run over; or the table or the model is away; or
    // a person has to look.
    let passes = category == Category::Aborted || category.group() == Group::Transport;
    if passes || paused.is_none() && history.in_doubt().is_some() {
        return Err(error.into());
    }
    let failure = paused.is_none().then(|| format!("{category}: {error}"));
    let paused = paused.as_ref().map(serde_json::to_string).transpose()?;
    let sql = "UPDATE llmnode_run SET paused = $2, steps = $3, decided = false, failure = $4 WHERE \
               run = $1 AND $5 = (SELECT count(*) FROM llmnode_journal WHERE run = $1)";
    let db = pool.get().await?;
    match db
        .execute(sql, &[&id, &paused, &steps(&history)?, &failure, &records])
        .await?
    {
        0 => Err("another process has taken the run over".into()),
        _ => Ok(()),
    }
}

async fn history(pool: &Pool, id: &str) -> Result<History, BoxError> {
    Ok(History::of(&mut TableJournal::new(pool, id)).await?)
}

fn steps(history: &History) -> Result<i64, BoxError> {
    Ok(i64::try_from(history.steps())?)
}

/// Of the jobs of a run, which have a queue of their own, one is under way at a time.
async fn add(db: &Transaction<'_>, utils: &WorkerUtils, job: GoOn) -> Result<(), BoxError> {
    let spec = JobSpec {
        queue_name: Some(job.run.clone()),
        ..JobSpec::default()
    };
    utils
        .clone()
        .with_executor(&**db)
        .add_job(job, spec)
        .await?;
    Ok(())
}

/// Starts a run, once.
async fn start(
    pool: &Pool,
    utils: &WorkerUtils,
    id: &str,
    order: &Order,
) -> Result<bool, BoxError> {
    let mut db = pool.get().await?;
    let db = db.transaction().await?;
    let sql = "INSERT INTO llmnode_run (run, input) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let is_new = db
        .execute(sql, &[&id, &serde_json::to_string(order)?])
        .await?
        == 1;
    if is_new {
        add(
            &db,
            utils,
            GoOn {
                run: id.to_owned(),
                rerun_at: None,
            },
        )
        .await?;
    }
    db.commit().await?;
    Ok(is_new)
}

/// Says yes to all calls that wait.
async fn approve(pool: &Pool, utils: &WorkerUtils, id: &str) -> Result<bool, BoxError> {
    let mut db = pool.get().await?;
    let db = db.transaction().await?;
    let sql = "SELECT paused FROM llmnode_run WHERE run = $1 AND paused IS NOT NULL AND NOT \
               decided FOR UPDATE";
    let Some(row) = db.query_opt(sql, &[&id]).await? else {
        return Ok(false);
    };
    let mut paused: Paused = serde_json::from_str(row.get(0))?;
    for call in paused.waiting() {
        paused = paused.decide(&call.id, Approval::yes())?;
    }
    let sql = "UPDATE llmnode_run SET paused = $2, decided = true WHERE run = $1";
    db.execute(sql, &[&id, &serde_json::to_string(&paused)?])
        .await?;
    add(
        &db,
        utils,
        GoOn {
            run: id.to_owned(),
            rerun_at: None,
        },
    )
    .await?;
    db.commit().await?;
    Ok(true)
}

/// After a person has seen that what is in doubt did not happen.
async fn rerun(pool: &Pool, utils: &WorkerUtils, id: &str) -> Result<(), BoxError> {
    let mut db = pool.get().await?;
    let db = db.transaction().await?;
    let records = db
        .query_one(
            "SELECT count(*) FROM llmnode_journal WHERE run = $1",
            &[&id],
        )
        .await?
        .get(0);
    add(
        &db,
        utils,
        GoOn {
            run: id.to_owned(),
            rerun_at: Some(records),
        },
    )
    .await?;
    Ok(db.commit().await?)
}

async fn status(pool: &Pool, id: &str) -> Result<Value, BoxError> {
    let sql =
        "SELECT CASE WHEN NOT decided THEN paused END, failure FROM llmnode_run WHERE run = $1";
    let row = pool
        .get()
        .await?
        .query_opt(sql, &[&id])
        .await?
        .ok_or("there is no such run")?;
    let paused = row
        .get::<_, Option<&str>>(0)
        .map(serde_json::from_str::<Paused>)
        .transpose()?;
    let history = history(pool, id).await?;
    Ok(json!({
        "at": history.position(),
        "steps": history.steps(),
        "waiting": paused.map(|paused| paused.waiting()).unwrap_or_default(),
        "in_doubt": history.in_doubt().map(|call| &call.node),
        "ended": history.has_ended(),
        "failure": row.get::<_, Option<&str>>(1),
        "requests": history.ledger().total().requests,
        "unknown": history.unknown().len(),
        "state": history.state().map(serde_json::from_str::<Value>).transpose()?,
    }))
}

async fn work(database: TokioPostgresDatabase, pool: Pool, dead: u64) -> Result<(), BoxError> {
    let worker = WorkerOptions::default()
        .database(database)
        .add_extension(pool)
        .concurrency(16)
        .define_job::<GoOn>()
        .heartbeat_interval(Duration::from_millis(dead / 4))
        .sweep_interval(Duration::from_millis(dead / 2))
        .sweep_threshold(Duration::from_millis(dead))
        .recovery_delay(Duration::ZERO)
        .shutdown_grace_period(Duration::from_secs(25))
        .init()
        .await?;
    Ok(worker.run().await?)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    // How long until a dead worker's jobs are given to others: up to twice this.
    let dead = std::env::var("DEAD_AFTER_MS").map_or(Ok(30_000), |text| text.parse())?;
    let mut config: tokio_postgres::Config = std::env::var("DATABASE_URL")?.parse()?;
    // Else a worker that freezes within a transaction, such as that of a search for
    // the dead, keeps its locks.
    config.options(format!("-c idle_in_transaction_session_timeout={dead}"));
    let database = TokioPostgresDatabase::from_config(config, 20)?;
    let pool = database.pool().clone();
    let utils = WorkerUtils::new(database.clone(), "graphile_worker");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["setup"] => {
            pool.get()
                .await?
                .batch_execute(include_str!("../schema.sql"))
                .await?;
            utils.migrate().await?;
        }
        ["worker"] => work(database, pool, dead).await?,
        ["start", id, customer, complaint] => {
            let order = Order {
                customer: customer.to_owned(),
                complaint: complaint.to_owned(),
                answer: String::new(),
                note: String::new(),
            };
            println!("started: {}", start(&pool, &utils, id, &order).await?);
        }
        ["status", id] => println!("{:#}", status(&pool, id).await?),
        ["approve", id] => println!("approved: {}", approve(&pool, &utils, id).await?),
        ["rerun", id] => rerun(&pool, &utils, id).await?,
        // What a job does, for a cron in place of the queue.
        ["go-on", id] => {
            go_on(
                &pool,
                GoOn {
                    run: id.to_owned(),
                    rerun_at: None,
                },
            )
            .await?
        }
        _ => eprintln!(
            "queue setup | worker | start ID CUSTOMER COMPLAINT | status ID | approve ID | rerun \
             ID | go-on ID"
        ),
    }
    Ok(())
}
