//! Restate's server, workers as processes, and a model whose log is the truth.

use std::future::Future;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use llmnode::StubServer;
use llmnode_restate::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A port that was free a moment ago.
pub(crate) fn port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// A process that does not outlive its test.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args([&format!("-{name}"), &self.0.id().to_string()])
            .status()
            .unwrap();
        assert!(status.success(), "SIG{name}");
    }

    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Waits until it has ended by itself.
    pub(crate) async fn ended(&mut self) {
        while self.0.try_wait().unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Asks it to end, and waits for that.
    pub(crate) fn terminate(mut self) -> bool {
        self.signal("TERM");
        self.0.wait().unwrap().success()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A Restate of this test's own.
pub(crate) struct Restate {
    process: Option<Process>,
    folder: PathBuf,
    ingress: u16,
    admin: u16,
    node: u16,
}

static FOLDERS: AtomicU64 = AtomicU64::new(0);

impl Restate {
    pub(crate) async fn start() -> Self {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("llmnode-restate-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // A key for these tests alone.
        let key = "MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
        let key = format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n");
        std::fs::write(folder.join("key.pem"), key).unwrap();
        let mut restate = Restate {
            process: None,
            folder,
            ingress: port(),
            admin: port(),
            node: port(),
        };
        restate.up().await;
        restate
    }

    /// The public half of the key that it signs with, as it says at its start.
    pub(crate) fn identity_key(&self) -> String {
        let log = std::fs::read_to_string(self.folder.join("log")).unwrap();
        let (_, key) = log.split_once("publickeyv1_").unwrap();
        let key: String = key
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        format!("publickeyv1_{key}")
    }

    /// Starts the server, also after [`Restate::kill`].
    pub(crate) async fn up(&mut self) {
        let program = std::env::var("LLMNODE_RESTATE_SERVER").expect("scripts/restate sets it");
        let log = std::fs::File::options()
            .append(true)
            .create(true)
            .open(self.folder.join("log"))
            .unwrap();
        let child = Command::new(program)
            .args([
                "--no-logo",
                "--listen-mode",
                "tcp",
                "--bind-ip",
                "127.0.0.1",
                "--node-name",
                "n1",
                "--base-dir",
            ])
            .arg(&self.folder)
            .envs([("DO_NOT_TRACK", "1"), ("RESTATE_DISABLE_TELEMETRY", "true")])
            .env("RESTATE_BIND_PORT", self.node.to_string())
            .env("RESTATE_INGRESS__BIND_PORT", self.ingress.to_string())
            .env("RESTATE_ADMIN__BIND_PORT", self.admin.to_string())
            .env(
                "RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE",
                self.folder.join("key.pem"),
            )
            .env("RESTATE_DEFAULT_NUM_PARTITIONS", "2")
            .env("RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_INTERVAL", "2s")
            .env("RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_TIMEOUT", "1s")
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.process = Some(Process(child));
        for _ in 0..600 {
            let ready = (
                self.admin("GET", "/health", None).await,
                self.ingress("GET", "/restate/health", None).await,
            );
            if let (Some((200, _)), Some((200, _))) = ready {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!(
            "Restate does not start: {}",
            std::fs::read_to_string(self.folder.join("log")).unwrap()
        );
    }

    pub(crate) fn kill(&mut self) {
        self.process.take().unwrap().kill();
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ingress)
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.url()).unwrap()
    }

    pub(crate) async fn ingress(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Option<(u16, Value)> {
        http(self.ingress, method, path, body).await
    }

    pub(crate) async fn admin(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Option<(u16, Value)> {
        http(self.admin, method, path, body).await
    }

    /// Registers the worker at this port. Returns the deployment's id.
    pub(crate) async fn register(&self, port: u16) -> String {
        let body = json!({"uri": format!("http://127.0.0.1:{port}")});
        for _ in 0..100 {
            if let Some((200 | 201, answer)) =
                self.admin("POST", "/deployments", Some(body.clone())).await
            {
                return answer["id"].as_str().unwrap().to_owned();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!(
            "the worker cannot be registered: {:?}",
            self.admin("POST", "/deployments", Some(body)).await
        )
    }

    pub(crate) async fn query(&self, sql: &str) -> Vec<Value> {
        let (status, answer) = self
            .admin("POST", "/query", Some(json!({"query": sql})))
            .await
            .unwrap();
        assert_eq!(status, 200, "{answer}");
        answer["rows"].as_array().unwrap().clone()
    }
}

impl Drop for Restate {
    fn drop(&mut self) {
        drop(self.process.take());
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// One request by hand; `None`: nobody answers.
pub(crate) async fn http(
    port: u16,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.0\r\nhost: 127.0.0.1\r\naccept: application/json\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream
        .write_all(format!("{head}{body}").as_bytes())
        .await
        .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((
        head.split(' ').nth(1)?.parse().ok()?,
        serde_json::from_str(body).unwrap_or(Value::Null),
    ))
}

/// Starts an example as a worker.
pub(crate) fn example(
    name: &str,
    arguments: &[&str],
    model: &StubServer,
    restate: &Restate,
) -> Command {
    let tests = std::env::current_exe().unwrap();
    let program = tests
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples")
        .join(name);
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("RESTATE", restate.url())
        .env("OPENAI_BASE_URL", model.base_url())
        .env("OPENAI_API_KEY", "k")
        .env("OPENAI_MODEL", "m")
        .stdout(Stdio::piped());
    command
}

pub(crate) fn spawn(mut command: Command) -> Process {
    Process(command.spawn().unwrap())
}

/// What stands before the workers: each connection goes to the next of those that are listed.
#[derive(Clone)]
pub(crate) struct Balancer {
    pub(crate) port: u16,
    workers: Arc<Mutex<Vec<u16>>>,
}

impl Balancer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let balancer = Balancer {
            port: listener.local_addr().unwrap().port(),
            workers: Arc::default(),
        };
        let workers = Arc::clone(&balancer.workers);
        tokio::spawn(async move {
            for turn in 0.. {
                let (mut outer, _) = listener.accept().await.unwrap();
                let mut ports = workers.lock().unwrap().clone();
                let first = turn % ports.len().max(1);
                ports.rotate_left(first);
                tokio::spawn(async move {
                    for port in ports {
                        if let Ok(mut inner) = TcpStream::connect(("127.0.0.1", port)).await {
                            let _ = (outer.set_nodelay(true), inner.set_nodelay(true));
                            let _ = tokio::io::copy_bidirectional(&mut outer, &mut inner).await;
                            break;
                        }
                    }
                });
            }
        });
        balancer
    }

    pub(crate) fn list(&self, ports: &[u16]) {
        *self.workers.lock().unwrap() = ports.to_vec();
    }
}

/// Asks until it is so.
pub(crate) async fn until<T, F: Future<Output = Option<T>>>(what: &str, ask: impl Fn() -> F) -> T {
    for _ in 0..1500 {
        if let Some(found) = ask().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never: {what}")
}

pub(crate) fn unix_ms() -> u64 {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    u64::try_from(now.as_millis()).unwrap()
}
