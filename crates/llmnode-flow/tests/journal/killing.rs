//! Processes that are killed while they keep a journal: the test program, started again. Tests of other crates include
//! this file, too.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use llmnode_flow::journal::{Journal, JournalError, JournalFile, Record};
use llmnode_runtime::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A journal that kills its process before or after it appends a record.
pub(crate) struct Killing {
    file: JournalFile,
    at: Option<usize>,
    moments: usize,
}

impl Killing {
    /// `at`: twice the number of the record, and one more for behind it.
    pub(crate) fn new(file: JournalFile, at: Option<usize>) -> Self {
        Killing {
            file,
            at,
            moments: 0,
        }
    }

    fn moment(&mut self) {
        if self.at == Some(self.moments) {
            Command::new("kill")
                .args(["-KILL", &std::process::id().to_string()])
                .status()
                .unwrap();
            std::thread::sleep(Duration::from_secs(60));
        }
        self.moments += 1;
    }
}

impl Journal for Killing {
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>> {
        self.file.read(each)
    }

    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async {
            self.moment();
            let appended = self.file.append(record).await;
            self.moment();
            appended
        })
    }
}

/// Starts this test program anew for one of its tests, which takes the orders.
pub(crate) fn start(test: &str, journal: &Path, orders: impl Serialize) -> Child {
    start_with(&["--exact", test], journal, orders)
}

/// The same for a test that is ignored, since a command of its own starts what it needs.
#[allow(dead_code, reason = "not every test that includes this has such a one")]
pub(crate) fn start_ignored(test: &str, journal: &Path, orders: impl Serialize) -> Child {
    start_with(&["--ignored", "--exact", test], journal, orders)
}

fn start_with(args: &[&str], journal: &Path, orders: impl Serialize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(args).env("JOURNAL_OF_CHILD", journal);
    command.env("ORDERS_OF_CHILD", serde_json::to_string(&orders).unwrap());
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The journal and the orders of a process that was started so; `None` in any other.
pub(crate) fn orders<O: DeserializeOwned>() -> Option<(PathBuf, O)> {
    let journal = std::env::var_os("JOURNAL_OF_CHILD")?;
    Some((
        journal.into(),
        serde_json::from_str(&std::env::var("ORDERS_OF_CHILD").unwrap()).unwrap(),
    ))
}

/// Waits for its end. Gives whether it was killed; otherwise it ended well.
pub(crate) fn was_killed(child: &mut Child) -> bool {
    let status = child.wait().unwrap();
    // Of one that a signal ended there is no code.
    assert!(
        status.success() || !cfg!(unix) || status.code().is_none(),
        "{status}"
    );
    !status.success()
}
