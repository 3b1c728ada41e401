//! The batches of a map's journal: which are not read to their end, and which of
//! their lines have none.
//!
//! In: the records of batches, and where an attempt that is part of one begins and
//! ends. Out: the batches that the next process goes on with. A line is known by
//! its id, whichever process and call asks for it, so that it counts once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, SystemTime};

use llmnode_runtime::ext::JournaledBatch;
use llmnode_runtime::{AttemptId, CallId};

use super::record::{
    AttemptBegan, BatchCancelled, BatchCreated, BatchEnded, BatchPlanned, BatchUploaded,
};

#[derive(Default)]
pub(super) struct BatchHistory {
    count: u64,
    /// By our name.
    open: BTreeMap<String, OpenBatch>,
    /// Attempts without an end, by the ids of their lines.
    lines: HashMap<String, AttemptBegan>,
    /// Of those attempts.
    ids: HashMap<AttemptId, String>,
    /// Calls that asked by a batch.
    calls: HashSet<CallId>,
}

struct OpenBatch {
    planned: BatchPlanned,
    file: Option<String>,
    created: Option<BatchCreated>,
    /// In milliseconds since 1970.
    cancelled: Option<u64>,
}

impl BatchHistory {
    pub(super) fn planned(&mut self, planned: BatchPlanned) {
        self.count += 1;
        let batch = OpenBatch {
            planned,
            file: None,
            created: None,
            cancelled: None,
        };
        self.open.insert(batch.planned.name.clone(), batch);
    }

    pub(super) fn uploaded(&mut self, uploaded: BatchUploaded) {
        if let Some(batch) = self.open.get_mut(&uploaded.name) {
            batch.file = Some(uploaded.file);
        }
    }

    pub(super) fn created(&mut self, created: BatchCreated) {
        if let Some(batch) = self.open.get_mut(&created.name) {
            batch.created = Some(created);
        }
    }

    pub(super) fn cancelled(&mut self, cancelled: &BatchCancelled) {
        if let Some(batch) = self.open.get_mut(&cancelled.name) {
            batch.cancelled = Some(cancelled.unix_ms);
        }
    }

    /// Returns the attempts of its lines that have no end. Of a batch that never
    /// was, none was made.
    pub(super) fn ended(&mut self, ended: &BatchEnded) -> Vec<AttemptBegan> {
        self.open.remove(&ended.name);
        let without_end: Vec<AttemptBegan> = self
            .lines
            .extract_if(|_, began| is_of_batch(began, &ended.name))
            .map(|(_, began)| began)
            .collect();
        for began in &without_end {
            self.ids.remove(&began.attempt.id);
        }
        match ended.was_created {
            true => without_end,
            false => Vec::new(),
        }
    }

    /// An attempt of a later process for the same line takes the place of the earlier one.
    pub(super) fn line_began(&mut self, began: AttemptBegan) {
        let id = began.attempt.id;
        self.calls.insert(id.call());
        let Some(batch) = &began.attempt.batch else {
            return;
        };
        let line = batch.line.clone();
        self.ids.insert(id, line.clone());
        if let Some(before) = self.lines.insert(line, began)
            && before.attempt.id != id
        {
            self.ids.remove(&before.attempt.id);
        }
    }

    pub(super) fn line_ended(&mut self, attempt: AttemptId) {
        if let Some(line) = self.ids.remove(&attempt) {
            self.lines.remove(&line);
        }
    }

    pub(super) fn is_of_batch(&self, call: CallId) -> bool {
        self.calls.contains(&call)
    }

    pub(super) fn take_lines(&mut self) -> Vec<AttemptBegan> {
        self.ids.clear();
        let lines = std::mem::take(&mut self.lines);
        lines.into_values().collect()
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn open(&self) -> Vec<JournaledBatch> {
        let mut lines: HashMap<&str, Vec<String>> = HashMap::new();
        for (line, began) in &self.lines {
            if let Some(batch) = &began.attempt.batch {
                lines.entry(&batch.name).or_default().push(line.clone());
            }
        }
        let batches = self.open.values().map(|open| {
            let OpenBatch {
                planned,
                file,
                created,
                cancelled,
            } = open;
            JournaledBatch {
                name: planned.name.clone(),
                api: planned.api.clone(),
                model: planned.model.clone(),
                file: file.clone(),
                batch: created.as_ref().map(|created| created.batch.clone()),
                planned: time(planned.unix_ms),
                created: created.as_ref().and_then(|created| time(created.unix_ms)),
                cancelled: cancelled.and_then(time),
                planned_lines: planned.keys.len(),
                lines: match created {
                    Some(_) => lines.remove(&*planned.name).unwrap_or_default(),
                    None => self.planned_lines(planned),
                },
            }
        });
        batches.collect()
    }
}

impl BatchHistory {
    /// Of a batch that is not known to be created, no line was read. That its
    /// attempts are missing does not say that it was not sent: they are synced with
    /// the next record of the batch, and a power cut before takes them.
    fn planned_lines(&self, planned: &BatchPlanned) -> Vec<String> {
        let mut lines = planned.keys.clone();
        lines.retain(|line| {
            let began = self.lines.get(line);
            began.is_none_or(|began| is_of_batch(began, &planned.name))
        });
        lines
    }
}

fn time(unix_ms: u64) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(unix_ms))
}

fn is_of_batch(began: &AttemptBegan, name: &str) -> bool {
    let batch = began.attempt.batch.as_ref();
    batch.is_some_and(|batch| batch.name == name)
}
