//! A server as a child process: what it sees of the environment, and where its log goes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use process_wrap::tokio::CommandWrap;
#[cfg(unix)]
use process_wrap::tokio::ProcessGroup;
use rmcp::transport::TokioChildProcess;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, Command};

/// What a child sees of our environment.
#[cfg(not(windows))]
const INHERITED: &[&str] = &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
/// What a child sees of our environment. Without some of these no program starts on Windows.
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

/// So much of a child's log is kept.
const LOGGED: usize = 64 * 1024;

/// How a child is started.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) folder: Option<PathBuf>,
}

impl Program {
    /// Starts it. The child is ended when the transport is closed or dropped.
    pub(crate) fn start(&self, server: &str) -> std::io::Result<TokioChildProcess> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear();
        let inherited = INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        command.envs(inherited).envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut command = CommandWrap::from(command);
        // What the child has started itself ends with it.
        #[cfg(unix)]
        command.wrap(ProcessGroup::leader());
        let (transport, log) = TokioChildProcess::builder(command).stderr(Stdio::piped()).spawn()?;
        if let Some(log) = log {
            tokio::spawn(tell(log, server.to_owned()));
        }
        Ok(transport)
    }
}

/// Passes the log of a child on, up to a limit; the rest is read and forgotten, so that the child does not wait.
async fn tell(mut log: ChildStderr, server: String) {
    let (mut buffer, mut told) = ([0; 4096], 0);
    while let Ok(length @ 1..) = log.read(&mut buffer).await {
        if told < LOGGED {
            let text = String::from_utf8_lossy(&buffer[..length]);
            tracing::debug!(server, "{}", text.trim_end());
            told += length;
            if told >= LOGGED {
                tracing::warn!(server, "the log of this MCP server is too long; the rest is not shown");
            }
        }
    }
}
