//! A server as a child process: its environment, its messages, its log and its end.
//!
//! A message is one line. What a server writes is [mended](crate::message) before
//! rmcp reads it; a line that is no message, or longer than one may be, is dropped.
//! A server that does not answer `server/discover` in time is taken for an older
//! one, on the same process: it gets the older handshake next.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::ext::{Secret, redact_secrets};
use llmnode_reader::ext::small_tree;
#[cfg(unix)]
use process_wrap::tokio::ProcessGroup;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::clean::without_hidden;
use crate::failure::Failure;
use crate::message::{Awaited, mend};
use crate::unanswered::Unanswered;

/// The child sees nothing else of our environment, so that it gets no keys.
#[cfg(not(windows))]
const INHERITED: &[&str] = &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
/// Without some of these, no program starts on Windows.
#[cfg(windows)]
const INHERITED: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];

const BUFFER_BYTES: usize = 64 * 1024;
/// The most that is forwarded, and the longest line.
const MAX_LOG_BYTES: usize = 64 * 1024;
const LOG_TAIL_BYTES: usize = 4096;
/// Before each stronger way to end a child.
const END_TIMEOUT: Duration = Duration::from_secs(3);
#[cfg(unix)]
const SIGTERM: i32 = 15;
/// For a child that has failed.
const LOG_END_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) folder: Option<PathBuf>,
}

impl Program {
    /// Closing or dropping the transport ends the child. `probe` is how long
    /// `server/discover` may take.
    pub(crate) fn start(
        &self,
        server: &str,
        probe: Duration,
        max_line: usize,
    ) -> io::Result<(ChildTransport, LogTask)> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear();
        let inherited = INHERITED
            .iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?)));
        command
            .envs(inherited)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut command = CommandWrap::from(command);
        // The child's own children end with it.
        #[cfg(unix)]
        command.wrap(ProcessGroup::leader());
        command
            .command_mut()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin().take().ok_or_else(no_pipe)?;
        let output = child.stdout().take().ok_or_else(no_pipe)?;
        let log = Log {
            server: server.to_owned(),
            secrets: self.secrets(),
            forwarded: 0,
        };
        let log = tokio::spawn(forward_log(child.stderr().take(), log));
        let transport = ChildTransport {
            child: Child(Some(child)),
            input: Arc::new(Mutex::new(Some(input))),
            output: Lines {
                output: BufReader::with_capacity(BUFFER_BYTES, output),
                line: Vec::new(),
                max_line,
                is_dropped: false,
            },
            probe,
            discovery: Discovery::NotSent,
            unanswered: Unanswered::default(),
        };
        Ok((transport, log))
    }

    /// On one line.
    pub(crate) async fn log_tail(&self, log: LogTask, most: usize) -> Option<String> {
        let text = timeout(LOG_END_TIMEOUT, log).await.ok()?.ok()?;
        let mut words = String::new();
        for line in text
            .lines()
            .rev()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            if words.is_empty() {
                line.clone_into(&mut words);
            } else if words.len() + line.len() < most {
                words = format!("{line} {words}");
            } else {
                break;
            }
        }
        (!words.is_empty()).then(|| without_hidden(&words, most).replace(char::is_control, " "))
    }

    /// All values, since any of them may be one.
    fn secrets(&self) -> Vec<Secret> {
        let values = self.environment.iter();
        values
            .filter_map(|(_, value)| value.to_str())
            .map(Secret::new)
            .collect()
    }
}

pub(crate) struct ChildTransport {
    child: Child,
    input: Arc<Mutex<Option<ChildStdin>>>,
    output: Lines,
    probe: Duration,
    discovery: Discovery,
    unanswered: Unanswered,
}

/// Where `server/discover` is.
enum Discovery {
    NotSent,
    Awaited {
        id: RequestId,
        until: Instant,
    },
    /// Nobody waits for its answer any more.
    GivenUp(RequestId),
}

impl Transport<RoleClient> for ChildTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
        {
            let until = Instant::now() + self.probe;
            self.discovery = Discovery::Awaited {
                id: request.id.clone(),
                until,
            };
        }
        let input = Arc::clone(&self.input);
        let answering = self.unanswered.answering(&message);
        async move {
            let _answering = answering;
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut input = input.lock().await;
            let input = input.as_mut().ok_or_else(|| {
                io::Error::new(io::ErrorKind::NotConnected, "its input is closed")
            })?;
            input.write_all(&line).await?;
            input.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let line = match &self.discovery {
                Discovery::Awaited { id, until } => match timeout_at(*until, self.output.next())
                    .await
                {
                    Ok(line) => line,
                    Err(_) => {
                        let id = id.clone();
                        self.discovery = Discovery::GivenUp(id.clone());
                        let silent = Failure {
                            is_lost: false,
                            ..Failure::lost("it does not answer")
                        };
                        let silent = Failure {
                            category: llmnode_runtime::Category::Timeout,
                            ..silent
                        };
                        return Some(ServerJsonRpcMessage::error(silent.into_error(), Some(id)));
                    }
                },
                _ => self.output.next().await,
            };
            if let Some(message) = self.read(&line?) {
                return Some(message);
            }
        }
    }

    /// Closes its input, then terminates it, then kills it.
    async fn close(&mut self) -> Result<(), io::Error> {
        // A server that reads nothing blocks who writes to it, and waits here: its end breaks the pipe.
        let input = Arc::clone(&self.input);
        tokio::spawn(async move { drop(input.lock().await.take()) });
        self.child.end().await
    }
}

impl ChildTransport {
    /// The message of a line, if it is one that somebody waits for.
    fn read(&mut self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let message = small_tree(line)?;
        let awaited = match &self.discovery {
            Discovery::GivenUp(id) if answers(&message, id) => return None,
            Discovery::Awaited { id, .. } if answers(&message, id) => Some(Awaited {
                id: message["id"].clone(),
                is_discovery: true,
            }),
            _ => None,
        };
        if awaited.is_some() {
            self.discovery = Discovery::NotSent;
        }
        match serde_json::from_value(mend(message, awaited.as_ref())) {
            Ok(message) => self.unanswered.takes(&message).then_some(message),
            Err(error) => {
                tracing::debug!("a message of an MCP server is left out: {error}");
                None
            }
        }
    }
}

/// Whether it is the answer to the request with the id: a request of the server may
/// have the same one.
fn answers(message: &serde_json::Value, id: &RequestId) -> bool {
    message.get("method").is_none() && serde_json::to_value(id).is_ok_and(|id| id == message["id"])
}

fn no_pipe() -> io::Error {
    io::Error::other("it has no standard input or output")
}

/// Lines of bounded length. A longer one is dropped.
struct Lines {
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    max_line: usize,
    /// The rest of the line that is being read is not kept.
    is_dropped: bool,
}

impl Lines {
    /// May be dropped while it waits: what was read of a line stays.
    async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            let read = self
                .output
                .fill_buf()
                .await
                .ok()
                .filter(|read| !read.is_empty())?;
            // To look for one first is fast, also where nothing is optimised.
            let end = match read.contains(&b'\n') {
                true => read.iter().position(|byte| *byte == b'\n'),
                false => None,
            };
            let piece = &read[..end.unwrap_or(read.len())];
            if self.line.len() + piece.len() > self.max_line {
                self.is_dropped = true;
                self.line = Vec::new();
            }
            if !self.is_dropped {
                self.line.extend_from_slice(piece);
            }
            let length = piece.len() + usize::from(end.is_some());
            self.output.consume(length);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                if !std::mem::take(&mut self.is_dropped) {
                    return Some(line);
                }
                tracing::warn!(
                    "a message of an MCP server is longer than {} bytes; it is dropped",
                    self.max_line
                );
            }
        }
    }
}

/// It is killed when it is dropped.
struct Child(Option<Box<dyn ChildWrapper>>);

impl Child {
    async fn end(&mut self) -> Result<(), io::Error> {
        // It stays here until it has ended, so that it is killed if nobody waits any more.
        let Some(child) = self.0.as_mut() else {
            return Ok(());
        };
        let mut has_ended = timeout(END_TIMEOUT, child.wait()).await.is_ok();
        #[cfg(unix)]
        if !has_ended && child.signal(SIGTERM).is_ok() {
            has_ended = timeout(END_TIMEOUT, child.wait()).await.is_ok();
        }
        if !has_ended {
            Box::into_pin(child.kill()).await?;
        }
        self.0 = None;
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            // To kill is to wait, too, so that no zombie is left.
            runtime.spawn(async move {
                let _ = Box::into_pin(child.kill()).await;
            });
        }
    }
}

pub(crate) type LogTask = JoinHandle<String>;

/// What of a child's log is shown on the way.
struct Log {
    server: String,
    secrets: Vec<Secret>,
    /// Bytes so far.
    forwarded: usize,
}

impl Log {
    /// Whole lines, since half a secret would not be recognised.
    fn forward(&mut self, lines: &[u8]) {
        if self.is_full() {
            return;
        }
        let server = &*self.server;
        tracing::debug!(server, "{}", self.redact(lines).trim_end());
        self.count(lines.len());
    }

    fn is_full(&self) -> bool {
        self.forwarded >= MAX_LOG_BYTES
    }

    /// Says once that there is more.
    fn count(&mut self, bytes: usize) {
        self.forwarded += bytes;
        if self.is_full() {
            tracing::warn!(
                server = self.server,
                "the log of this MCP server is too long; the rest is not shown"
            );
        }
    }

    fn redact(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes).into_owned();
        redact_secrets(text, &self.secrets)
    }

    /// Of a secret, in the longest of its forms.
    fn longest_secret(&self) -> usize {
        let lengths = self.secrets.iter().map(Secret::longest_form);
        lengths.max().unwrap_or(0)
    }
}

/// The log is read beyond the limit, so that the child never blocks on it. Returns
/// its end, without secrets.
async fn forward_log(log: Option<impl AsyncRead + Unpin>, mut to: Log) -> String {
    let Some(mut log) = log else {
        return String::new();
    };
    // Where the end is cut, a secret may be cut, too. Redacted, another one is shorter.
    let longest_secret = to.longest_secret();
    let mut buffer = [0; 4096];
    let mut unended = Vec::new();
    let mut end = Vec::new();
    let mut is_cut = false;
    while let Ok(length @ 1..) = log.read(&mut buffer).await {
        let read = &buffer[..length];
        end.extend_from_slice(read);
        let cut = end
            .len()
            .saturating_sub(LOG_TAIL_BYTES + 2 * longest_secret);
        end.drain(..cut);
        is_cut |= cut > 0;
        if to.is_full() {
            continue;
        }
        unended.extend_from_slice(read);
        if let Some(line_end) = unended.iter().rposition(|byte| *byte == b'\n') {
            to.forward(&unended[..=line_end]);
            unended.drain(..=line_end);
        } else if unended.len() > MAX_LOG_BYTES {
            // A line is shown whole or not at all.
            to.count(unended.len());
        }
    }
    if !unended.is_empty() {
        to.forward(&unended);
    }
    let text = to.redact(&end);
    match is_cut {
        true => behind(&text, longest_secret).to_owned(),
        false => text,
    }
}

/// The text without its first bytes, nor a part of a character behind them.
fn behind(text: &str, bytes: usize) -> &str {
    let mut at = bytes.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of a log begins anywhere, within a key, too.
    #[tokio::test]
    async fn no_end_of_a_log_has_a_part_of_a_key() {
        for key in [
            "a password of words MIIEvQMIIEvQ",
            "MIIEvQMIIEvQMIIEvQMIIEvQ",
        ] {
            for length in LOG_TAIL_BYTES - 60..LOG_TAIL_BYTES + 300 {
                let rest = "y".repeat(length);
                let to = Log {
                    server: "s".to_owned(),
                    secrets: vec![Secret::new(key)],
                    forwarded: 0,
                };
                let log = format!("{key}{rest} ends");
                let end = forward_log(Some(log.as_bytes()), to).await;
                assert!(end.ends_with("y ends"), "{end}");
                assert!(!end.contains("MIIEvQ"), "{length}: {end}");
            }
        }
    }
}
