//! A server as a child process: its environment and its log.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::CommandWrap;
#[cfg(unix)]
use process_wrap::tokio::ProcessGroup;
use rmcp::transport::TokioChildProcess;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::clean::without_hidden;

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

const MAX_LOG_BYTES: usize = 64 * 1024;
const LOG_TAIL_BYTES: usize = 4096;
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
    /// Closing or dropping the transport ends the child.
    pub(crate) fn start(&self, server: &str) -> std::io::Result<(TokioChildProcess, LogTask)> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear();
        let inherited = INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        command.envs(inherited).envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut command = CommandWrap::from(command);
        // The child's own children end with it.
        #[cfg(unix)]
        command.wrap(ProcessGroup::leader());
        let (transport, log) = TokioChildProcess::builder(command).stderr(Stdio::piped()).spawn()?;
        let log = tokio::spawn(forward_log(log, server.to_owned()));
        Ok((transport, log))
    }

    /// On one line. Values of `environment` are redacted, since they may be secrets.
    pub(crate) async fn log_tail(&self, log: LogTask, most: usize) -> Option<String> {
        let mut text = timeout(LOG_END_TIMEOUT, log).await.ok()?.ok()?;
        for (_, value) in &self.environment {
            if let Some(value) = value.to_str().filter(|value| value.len() >= 4) {
                text = text.replace(value, "[redacted]");
            }
        }
        let mut words = String::new();
        for line in text.lines().rev().map(str::trim).filter(|line| !line.is_empty()) {
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
}

pub(crate) type LogTask = JoinHandle<String>;

/// The log is read beyond the limit, so that the child never blocks on it.
async fn forward_log(log: Option<ChildStderr>, server: String) -> String {
    let (mut buffer, mut forwarded, mut end) = ([0; 4096], 0, Vec::new());
    let Some(mut log) = log else { return String::new() };
    while let Ok(length @ 1..) = log.read(&mut buffer).await {
        end.extend_from_slice(&buffer[..length]);
        end.drain(..end.len().saturating_sub(LOG_TAIL_BYTES));
        if forwarded < MAX_LOG_BYTES {
            let text = String::from_utf8_lossy(&buffer[..length]);
            tracing::debug!(server, "{}", text.trim_end());
            forwarded += length;
            if forwarded >= MAX_LOG_BYTES {
                tracing::warn!(server, "the log of this MCP server is too long; the rest is not shown");
            }
        }
    }
    String::from_utf8_lossy(&end).into_owned()
}
