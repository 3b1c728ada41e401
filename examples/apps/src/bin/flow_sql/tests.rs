//! The flow on a real file, with scripted queries.

use llmnode::prelude::*;

use crate::ask::{Ask, Desk, Outcome, QUERIES};
use crate::{desk, made};

/// A file of its own, until the test ends.
struct File(std::path::PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

/// A desk with a file of its own.
fn run(test: &str, model: &ScriptedModel) -> (File, Run<Desk>) {
    let file = made(std::env::temp_dir().join(format!("llmnode-{test}-{}.db", std::process::id())))
        .unwrap();
    let desk = desk(&file, "Which light is the highest?".to_owned()).unwrap();
    (File(file), Run::new(model.clone()).with_state(desk))
}

fn query(sql: &str) -> String {
    serde_json::json!({"sql": sql}).to_string()
}

#[tokio::test]
async fn what_the_database_says_goes_back_to_who_wrote_the_query() {
    let model = ScriptedModel::new()
        .reply(query(
            "SELECT name FROM lights ORDER BY height DESC LIMIT 1",
        ))
        .reply(query(
            "SELECT name, metres FROM lights ORDER BY metres DESC LIMIT 1",
        ));
    let (_file, mut run) = run("back", &model);
    assert_eq!(run.flow(Ask).await.unwrap(), Outcome::Answered);
    assert_eq!(run.state().rows, ["north | 41"]);
    let asked = model.requests();
    assert!(
        asked[0].messages[0].content.contains("CREATE TABLE lights"),
        "{asked:?}"
    );
    assert!(
        asked[1].messages[0]
            .content
            .contains("no such column: height"),
        "{asked:?}"
    );
}

#[tokio::test]
async fn it_gives_up_after_three_queries() {
    let model = (0..QUERIES).fold(ScriptedModel::new(), |model, _| {
        model.reply(query("SELECT nothing"))
    });
    let (_file, mut run) = run("up", &model);
    assert_eq!(run.flow(Ask).await.unwrap(), Outcome::GivenUp);
    assert_eq!((run.state().tried, model.remaining()), (QUERIES, 0));
}

#[tokio::test]
async fn a_query_that_writes_is_refused_by_the_database() {
    let model = ScriptedModel::new()
        .reply(query("DROP TABLE lights"))
        .reply(query("SELECT count(*) FROM lights"));
    let (_file, mut run) = run("writes", &model);
    assert_eq!(run.flow(Ask).await.unwrap(), Outcome::Answered);
    assert_eq!(run.state().rows, ["3"]);
    assert!(
        run.state().fault.as_deref().unwrap().contains("readonly"),
        "{:?}",
        run.state().fault
    );
}
