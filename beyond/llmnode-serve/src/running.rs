//! The run that is under way, as the pages see it.
//!
//! It holds the texts of the newest calls only, cut: they are shown while they come, and the run's own page has all of them.

use llmnode_graph::{CheckedRegistry, Graph};
use llmnode_page::Recording;
use llmnode_reader::text::visible;
use llmnode_runtime::Event;
use tokio::sync::oneshot;

use crate::decision::Waiting;
use crate::kept::KeptRun;

/// Bytes of a call's text that are shown live; the run's page has all.
const SHOWN: usize = 64 * 1024;
/// Bytes of a tool's result.
const RESULT: usize = 4 * 1024;
/// Calls whose text is shown at once; the oldest are dropped.
const CALLS: usize = 64;

pub(crate) struct Running {
    pub(crate) number: u64,
    pub(crate) file: usize,
    pub(crate) graph: Graph,
    pub(crate) registry: CheckedRegistry,
    pub(crate) requests: u64,
    pub(crate) recording: Recording,
    pub(crate) texts: Vec<CallText>,
    pub(crate) waiting: Option<Waiting>,
    pub(crate) stop: Option<oneshot::Sender<()>>,
    /// On the disk.
    pub(crate) kept: KeptRun,
}

#[derive(Default)]
pub(crate) struct CallText {
    pub(crate) position: String,
    /// Of its panel; older panels may be gone.
    pub(crate) index: usize,
    pub(crate) text: String,
    /// Tool calls in it.
    calls: Vec<String>,
}

impl Running {
    pub(crate) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    pub(crate) fn has(&self, position: &str) -> bool {
        self.texts.iter().any(|text| text.position == position)
    }

    pub(crate) fn begin(&mut self, position: &str) {
        let index = self.texts.last().map_or(0, |text| text.index + 1);
        if self.texts.len() == CALLS {
            self.texts.remove(0);
        }
        self.texts.push(CallText {
            position: position.to_owned(),
            index,
            ..CallText::default()
        });
    }

    pub(crate) fn write(&mut self, position: &str, event: &Event) -> Option<(usize, String)> {
        let call = self
            .texts
            .iter_mut()
            .find(|text| text.position == position)?;
        let more = match event {
            Event::Text(more) => more.clone(),
            Event::ToolCalls(calls) => {
                call.calls.extend(calls.iter().map(|call| call.id.clone()));
                let calls = calls
                    .iter()
                    .map(|call| format!("\n→ {} {}", call.name, call.arguments));
                // As at an approval.
                visible(&calls.collect::<String>()).into_owned() + "\n"
            }
            Event::Restarted { category, .. } => format!("\n({category}: asked again)\n"),
            _ => return None,
        };
        call.add(&more, SHOWN)
    }

    /// Appends to the text of the call that called the tool.
    pub(crate) fn result(&mut self, id: &str, name: &str, result: &str) -> Option<(usize, String)> {
        let call = self
            .texts
            .iter_mut()
            .rev()
            .find(|text| text.calls.iter().any(|call| call == id))?;
        call.add(&format!("← {name} {result}\n"), RESULT)
    }
}

impl CallText {
    /// Returns what was added, if there was room for any: a page is sent nothing else.
    fn add(&mut self, more: &str, most: usize) -> Option<(usize, String)> {
        let room = SHOWN
            .saturating_sub(self.text.len())
            .min(most)
            .min(more.len());
        let end = (0..=room)
            .rev()
            .find(|end| more.is_char_boundary(*end))
            .unwrap_or(0);
        self.text.push_str(&more[..end]);
        (end > 0).then(|| (self.index, more[..end].to_owned()))
    }
}
