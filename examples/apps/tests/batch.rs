//! The program `batch` against a server of the test's, stopped and begun again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use llmnode::StubServer;
use llmnode::stub_server::StubReply;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

const REVIEWS: usize = 300;
const CONCURRENCY: u64 = 8;

/// A folder of its own with a file of reviews, until the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("llmnode-batch-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let rows: String = (0..REVIEWS)
            .map(|number| format!("R-{number},Review {number}.\n"))
            .collect();
        std::fs::write(path.join("reviews.csv"), format!("id,text\n{rows}")).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The rows written so far, by id; one that was not written whole is none.
    fn rows(&self) -> BTreeMap<String, Vec<String>> {
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .from_path(self.file("ratings.csv"))
            .unwrap();
        let rows = reader
            .records()
            .filter_map(Result::ok)
            .filter(|row| row.len() == 6);
        rows.map(|row| (row[0].to_owned(), row.iter().map(str::to_owned).collect()))
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// A slow server, and a message for each request that arrives.
async fn server() -> (StubServer, UnboundedReceiver<()>) {
    let (seen, arrivals) = unbounded_channel();
    let reply = StubReply::for_request(move |_| {
        seen.send(()).ok();
        StubReply::text(r#"{"mood": "Pleased", "stars": 5}"#).after(Duration::from_millis(20))
    });
    (
        StubServer::builder()
            .default_reply(reply)
            .start()
            .await
            .unwrap(),
        arrivals,
    )
}

fn begin(folder: &Folder, server: &StubServer, more: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_batch"));
    command
        .env_remove("OPENAI_API_KEY")
        .env("OPENAI_BASE_URL", server.base_url())
        .env("OPENAI_MODEL", "m");
    command.args([folder.file("reviews.csv"), folder.file("ratings.csv")]);
    command
        .arg("--resume")
        .arg(folder.file("ratings.journal"))
        .args(more);
    command.stderr(Stdio::piped()).spawn().unwrap()
}

/// Exit code and what it says at the end.
async fn ended(child: Child) -> (Option<i32>, String) {
    let output = tokio::task::spawn_blocking(|| child.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// How often each review was asked for.
fn asked(server: &StubServer) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for request in server.requests() {
        let messages = request.messages();
        let number = messages[0]
            .1
            .split_once("Review ")
            .unwrap()
            .1
            .split('.')
            .next()
            .unwrap();
        *asked.entry(format!("R-{number}")).or_default() += 1;
    }
    asked
}

async fn some_requests(arrivals: &mut UnboundedReceiver<()>) {
    for _ in 0..40 {
        arrivals.recv().await.unwrap();
    }
}

#[cfg(unix)]
#[tokio::test]
async fn ctrl_c_ends_well_and_each_review_is_paid_once() {
    let (folder, (server, mut arrivals)) = (Folder::new("stopped"), server().await);
    let child = begin(&folder, &server, &[]);
    some_requests(&mut arrivals).await;
    let signalled = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(signalled.success());
    let (code, said) = ended(child).await;
    let rows = folder.rows();
    let of = |error: &str| rows.values().filter(|row| row[5] == error).count();
    assert_eq!((code, rows.len()), (Some(1), REVIEWS), "{said}");
    assert!(
        of("") >= 40 && of("stopped") > 0 && of("") + of("stopped") == REVIEWS,
        "{said}"
    );
    assert_eq!(
        server.requests_seen() as usize,
        of(""),
        "what was under way ended well: {said}"
    );

    let (code, said) = ended(begin(&folder, &server, &[])).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains(&format!("{REVIEWS} rated, 0 failed, 0 not asked for")),
        "{said}"
    );
    let asked = asked(&server);
    assert_eq!(
        (asked.len(), asked.values().max()),
        (REVIEWS, Some(&1)),
        "each once"
    );
    let rows = folder.rows();
    assert!(
        rows.values()
            .all(|row| row[1] == "Pleased" && row[2] == "5" && row[4] == "1"),
        "{rows:?}"
    );
    assert!(
        said.contains(&format!("; {REVIEWS} requests")),
        "those of both processes: {said}"
    );
}

#[tokio::test]
async fn killed_it_goes_on_and_asks_again_for_nothing_that_it_has() {
    let (folder, (server, mut arrivals)) = (Folder::new("killed"), server().await);
    let mut child = begin(&folder, &server, &[]);
    some_requests(&mut arrivals).await;
    child.kill().unwrap();
    ended(child).await;
    let (had, before) = (folder.rows(), server.requests_seen());
    assert!(!had.is_empty() && had.len() < REVIEWS, "{}", had.len());

    let (code, said) = ended(begin(&folder, &server, &[])).await;
    assert_eq!(code, Some(0), "{said}");
    let asked = asked(&server);
    assert!(had.keys().all(|id| asked[id] == 1), "{had:?}: {asked:?}");
    let again = server.requests_seen() as usize - REVIEWS;
    assert!(
        again as u64 <= CONCURRENCY,
        "{again} of {before} were under way"
    );
    assert_eq!(folder.rows().len(), REVIEWS);
}

#[tokio::test]
async fn the_limit_of_money_leaves_rows_with_its_error() {
    let (folder, (server, _arrivals)) = (Folder::new("money"), server().await);
    let (code, said) = ended(begin(
        &folder,
        &server,
        &["--money", "0.01", "--price", "2,8"],
    ))
    .await;
    let rows = folder.rows();
    let left_out = rows
        .values()
        .filter(|row| row[5] == "limit_exceeded")
        .count();
    let spent: f64 = rows
        .values()
        .map(|row| row[3].parse::<f64>().unwrap())
        .sum();
    assert_eq!((code, rows.len()), (Some(1), REVIEWS), "{said}");
    assert!(
        left_out > 0 && said.contains(&format!("{left_out} failed")),
        "{said}"
    );
    assert!(
        said.contains(&format!("{spent:.6} spent")) && (0.0098..0.0102).contains(&spent),
        "{spent}: {said}"
    );
}

#[tokio::test]
async fn without_arguments_it_needs_no_key_and_has_a_row_for_each_review() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_batch"));
    command
        .env_remove("OPENAI_BASE_URL")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = command.output().unwrap();
    let rows = String::from_utf8(output.stdout).unwrap();
    let ratings: Vec<_> = rows
        .lines()
        .map(|row| row.split(',').collect::<Vec<_>>())
        .collect();
    assert_eq!(
        ratings[0],
        ["id", "mood", "stars", "cost", "requests", "error"]
    );
    assert_eq!(
        (&ratings[2][..3], ratings[5][5]),
        (&["R-2", "Annoyed", "2"][..], "refusal"),
        "{rows}"
    );
    assert_eq!((ratings.len(), output.status.code()), (9, Some(1)));
}

#[test]
fn a_wrong_argument_is_named() {
    for (arguments, fault) in [
        (&["--money"][..], "--money needs a value"),
        (&["--money", "much"], "\"much\" is not a number"),
        (&["--money", "1"], "--money needs --price"),
        (&["--price", "1"], "--price needs two numbers"),
        (&["--cheap"], "there is no option --cheap"),
        (&["no/such.csv"], "no/such.csv"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_batch"));
        command
            .args(arguments)
            .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
            .env("OPENAI_MODEL", "m");
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(2) && said.contains(fault),
            "{said}"
        );
    }
}
