//! Runs on the disk: what has ended, for the list, and what waits for a person, to
//! go on with after a restart.
//!
//! A run is a file from its start. It says that the run waits only as long as it
//! does: between a decision and the next pause, a tool may have been executed, and
//! a restart must not ask about it again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use llmnode_graph::State;
use llmnode_page::ext::Figures;
use llmnode_runtime::Paused;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Runs that have ended; the oldest are dropped.
pub(crate) const KEPT: usize = 20;

const FORMAT: &str = "llmnode/served-run";
const VERSION: u64 = 1;
/// A recording has 64 MiB at most, and a state 16.
const BYTES: u64 = 256 << 20;
/// Of a run that neither ended nor waits.
pub(crate) const INTERRUPTED: &str = "interrupted";

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct KeptRun {
    pub(crate) format: String,
    pub(crate) version: u64,
    pub(crate) number: u64,
    /// The graph's file.
    pub(crate) path: PathBuf,
    pub(crate) graph: String,
    pub(crate) inputs: Value,
    /// The most that it may make.
    pub(crate) requests: u64,
    /// Requests of earlier servers.
    #[serde(default)]
    pub(crate) spent: u64,
    pub(crate) outcome: String,
    pub(crate) error: Option<String>,
    pub(crate) values: String,
    pub(crate) figures: Figures,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) waits: Option<KeptPause>,
}

/// All that the run needs to go on.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct KeptPause {
    pub(crate) pause: u64,
    pub(crate) paused: Paused,
    pub(crate) state: State,
    /// Requests that were made until then.
    pub(crate) spent: u64,
    /// As its JSON.
    pub(crate) recording: String,
}

impl KeptRun {
    pub(crate) fn begun(
        number: u64,
        path: PathBuf,
        graph: String,
        inputs: Value,
        requests: u64,
    ) -> Self {
        KeptRun {
            format: FORMAT.to_owned(),
            version: VERSION,
            number,
            path,
            graph,
            inputs,
            requests,
            spent: 0,
            outcome: INTERRUPTED.to_owned(),
            error: None,
            values: String::new(),
            figures: Figures::default(),
            waits: None,
        }
    }
}

/// A folder that one server writes to, and only its owner can read.
pub(crate) struct Store {
    folder: PathBuf,
    /// Held for as long as the server runs.
    _lock: File,
}

impl Store {
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        let lock = private()
            .create(true)
            .truncate(false)
            .open(folder.join("lock"))?;
        lock.try_lock()
            .map_err(|_| io::Error::other("another server keeps its runs there"))?;
        let store = Store {
            folder: folder.to_path_buf(),
            _lock: lock,
        };
        // What was said in a run is not for a repository.
        store.write(".gitignore", b"*\n")?;
        Ok(store)
    }

    /// The oldest first. What is no run of ours is left alone.
    pub(crate) fn runs(&self) -> Vec<KeptRun> {
        let mut numbers: Vec<u64> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let name = entry.ok()?.file_name();
                name.to_str()?
                    .strip_prefix("run-")?
                    .strip_suffix(".json")?
                    .parse()
                    .ok()
            })
            .collect();
        numbers.sort_unstable();
        numbers
            .into_iter()
            .filter_map(|number| self.run(number))
            .collect()
    }

    fn run(&self, number: u64) -> Option<KeptRun> {
        let path = self.folder.join(format!("run-{number}.json"));
        let is_ours = fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= BYTES);
        let text = if is_ours {
            fs::read_to_string(path).ok()?
        } else {
            return None;
        };
        let run: KeptRun = serde_json::from_str(&text).ok()?;
        (run.format == FORMAT && run.version == VERSION && run.number == number).then_some(run)
    }

    pub(crate) fn keep(&self, run: &KeptRun) -> io::Result<()> {
        self.write(
            &format!("run-{}.json", run.number),
            &serde_json::to_vec(run)?,
        )
    }

    /// Removes a run unless its file says that it does not wait. Needs no room on the disk.
    pub(crate) fn forget_waiting(&self, number: u64) -> io::Result<()> {
        if self.run(number).is_some_and(|run| run.waits.is_none()) {
            return Ok(());
        }
        // Another run may get its number, and may not have its page.
        let _ = fs::remove_file(self.folder.join(format!("run-{number}.html")));
        match fs::remove_file(self.folder.join(format!("run-{number}.json"))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.and_then(|()| self.sync_names()),
        }
    }

    pub(crate) fn keep_page(&self, number: u64, page: &str) -> io::Result<()> {
        self.write(&format!("run-{number}.html"), page.as_bytes())
    }

    pub(crate) fn page(&self, number: u64) -> String {
        fs::read_to_string(self.folder.join(format!("run-{number}.html"))).unwrap_or_default()
    }

    /// Removes the oldest that have ended.
    pub(crate) fn tidy(&self) {
        let runs = self.runs();
        let ended: Vec<u64> = runs
            .iter()
            .filter(|run| run.waits.is_none())
            .map(|run| run.number)
            .collect();
        for number in &ended[..ended.len().saturating_sub(KEPT)] {
            for kind in ["json", "html"] {
                let _ = fs::remove_file(self.folder.join(format!("run-{number}.{kind}")));
            }
        }
    }

    /// As a whole or not at all.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let new = self.folder.join(format!("{name}.new"));
        let path = self.folder.join(name);
        let mut file = private().create(true).truncate(true).open(&new)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_data());
        // On Windows an open file cannot be renamed.
        drop(file);
        written
            .and_then(|()| fs::rename(&new, path))
            // A part of it takes room that the next one needs.
            .inspect_err(|_| drop(fs::remove_file(&new)))?;
        self.sync_names()
    }

    /// Without it, the name of a file that was written may be that of the old one after a power cut.
    fn sync_names(&self) -> io::Result<()> {
        // Elsewhere folders cannot be opened, and need not be.
        if cfg!(unix) {
            File::open(&self.folder)?.sync_all()?;
        }
        Ok(())
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
