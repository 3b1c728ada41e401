//! A database of a test's own, the examples as processes, and a model whose log is the truth.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use llmnode::StubServer;
use llmnode::stub_server::{LoggedRequest, StubReply};
use serde_json::{Value, json};

/// Requests of a run that nothing interrupts: what was bought, the refund, the answer, the note.
pub(crate) const NEEDED: u64 = 4;

/// How often each request was made.
pub(crate) type Asked = Arc<Mutex<HashMap<String, u64>>>;

fn answer(request: &LoggedRequest) -> (String, StubReply) {
    let messages = request.messages();
    let results = messages.iter().filter(|(role, _)| role == "tool").count();
    let (_, first) = messages
        .into_iter()
        .find(|(role, _)| role == "user")
        .unwrap();
    let reply = match results {
        _ if first.starts_with("Sum up") => StubReply::text("refunded"),
        0 => StubReply::call("purchases", json!({})),
        1 => StubReply::call("refund", json!({"euros": 20})),
        _ => StubReply::text("You have your 20 euros back."),
    };
    (format!("{first} / {results}"), reply)
}

/// A process that does not outlive its test.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn signal(&self, name: &str) {
        let signal = format!("-{name}");
        assert!(
            Command::new("kill")
                .args([&signal, &self.0.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
    }

    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a test's processes share.
pub(crate) struct Site {
    url: String,
    effects: PathBuf,
    pub(crate) model: StubServer,
    asked: Asked,
}

static SITES: AtomicU64 = AtomicU64::new(0);

impl Site {
    pub(crate) async fn new(delay: Duration) -> Self {
        let server = std::env::var("LLMNODE_POSTGRES").expect("scripts/postgres sets it");
        let name = format!(
            "llmnode_{}_{}",
            std::process::id(),
            SITES.fetch_add(1, Ordering::Relaxed)
        );
        let (db, connection) =
            tokio_postgres::connect(&format!("{server}/postgres"), tokio_postgres::NoTls)
                .await
                .unwrap();
        tokio::spawn(connection);
        db.batch_execute(&format!("CREATE DATABASE {name}"))
            .await
            .unwrap();
        let asked = Asked::default();
        let counted = Arc::clone(&asked);
        let reply = StubReply::for_request(move |request| {
            let (what, reply) = answer(request);
            *counted.lock().unwrap().entry(what).or_default() += 1;
            reply.after(delay)
        });
        let model = StubServer::builder()
            .default_reply(reply)
            .start()
            .await
            .unwrap();
        let effects = std::env::temp_dir().join(&name);
        let _ = std::fs::remove_file(&effects);
        Site {
            url: format!("{server}/{name}"),
            effects,
            model,
            asked,
        }
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("DATABASE_URL", &self.url)
            .env("DEAD_AFTER_MS", "1000")
            .env("OPENAI_BASE_URL", self.model.base_url())
            .env("OPENAI_API_KEY", "k")
            .env("OPENAI_MODEL", "m");
        command
    }

    /// Starts a process whose tools write down what they do.
    pub(crate) fn spawn(&self, program: &str, arguments: &[&str]) -> Process {
        let effects = std::fs::File::options()
            .append(true)
            .create(true)
            .open(&self.effects)
            .unwrap();
        Process(
            self.command(program, arguments)
                .stdout(effects)
                .spawn()
                .unwrap(),
        )
    }

    pub(crate) async fn output(&self, program: &str, arguments: &[&str]) -> Output {
        let effects = std::fs::File::options()
            .append(true)
            .create(true)
            .open(&self.effects)
            .unwrap();
        let mut command = self.command(program, arguments);
        let is_asked = ["start", "status", "approve", "result"].contains(&arguments[0]);
        command
            .stdout(if is_asked {
                Stdio::piped()
            } else {
                effects.into()
            })
            .stderr(Stdio::piped());
        tokio::task::spawn_blocking(move || command.output().unwrap())
            .await
            .unwrap()
    }

    pub(crate) async fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.output(program, arguments).await;
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) async fn json(&self, program: &str, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ask(program, arguments).await).unwrap()
    }

    /// What the tools did for a customer, such as `paid back: 20 euros to c1`.
    pub(crate) fn effects(&self, customer: &str) -> Vec<String> {
        let text = std::fs::read_to_string(&self.effects).unwrap_or_default();
        let lines = text
            .lines()
            .filter(|line| line.rsplit(' ').next() == Some(customer));
        lines.map(str::to_owned).collect()
    }

    pub(crate) fn paid(&self, customer: &str) -> usize {
        self.effects(customer)
            .iter()
            .filter(|line| line.starts_with("paid back"))
            .count()
    }

    /// How many requests were made for a customer, and how many of them again.
    pub(crate) fn counts(&self, customer: &str) -> (u64, u64) {
        let asked = self.asked.lock().unwrap();
        let of = |what: &&String| what.split([' ', ':']).any(|word| word == customer);
        let times: Vec<u64> = asked
            .iter()
            .filter(|(what, _)| of(what))
            .map(|(_, times)| *times)
            .collect();
        (
            times.iter().sum(),
            times.iter().map(|times| times - 1).sum(),
        )
    }
}

pub(crate) fn queue() -> &'static str {
    env!("CARGO_BIN_EXE_queue")
}

/// Asks until it is so.
pub(crate) async fn until<T, F: Future<Output = Option<T>>>(what: &str, ask: impl Fn() -> F) -> T {
    for _ in 0..600 {
        if let Some(found) = ask().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("never: {what}")
}

pub(crate) fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// A number for each call, which nobody can foresee.
pub(crate) fn random() -> impl FnMut() -> u64 {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let mut state = u64::try_from(now.as_nanos()).unwrap() | 1;
    move || {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}
