//! The run that is under way, as the pages see it.

use llmnode_graph::Graph;
use llmnode_page::Recording;
use llmnode_runtime::Event;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::decision::Waiting;

/// Of the text of one call that is shown while it is written; the page of the run has all.
const SHOWN: usize = 64 * 1024;
/// Of calls whose text is shown at once; the oldest go.
const CALLS: usize = 64;

/// The run that is under way.
pub(crate) struct Running {
    pub(crate) number: u64,
    pub(crate) file: usize,
    pub(crate) graph: Graph,
    pub(crate) inputs: Value,
    pub(crate) requests: u64,
    pub(crate) recording: Recording,
    pub(crate) texts: Vec<CallText>,
    pub(crate) waiting: Option<Waiting>,
    pub(crate) stop: Option<oneshot::Sender<()>>,
}

/// What a call writes.
#[derive(Default)]
pub(crate) struct CallText {
    pub(crate) position: String,
    /// Its panel: older ones may be gone.
    pub(crate) index: usize,
    pub(crate) text: String,
}

impl Running {
    pub(crate) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It has just ended.
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
        self.texts.push(CallText { position: position.to_owned(), index, text: String::new() });
    }

    pub(crate) fn write(&mut self, position: &str, event: &Event) -> Option<(usize, String)> {
        let call = self.texts.iter_mut().find(|text| text.position == position)?;
        let more = match event {
            Event::Text(more) => more.clone(),
            Event::ToolCalls(calls) => {
                let calls = calls.iter().map(|call| format!("\n→ {} {}", call.name, call.arguments));
                calls.collect::<String>() + "\n"
            }
            Event::ToolResult { id, outcome, .. } => format!("← {id}: {outcome}\n"),
            Event::Restarted { category, .. } => format!("\n({category}: asked again)\n"),
            _ => return None,
        };
        let room = SHOWN.saturating_sub(call.text.len());
        let end = (0..=more.len().min(room)).rev().find(|end| more.is_char_boundary(*end))?;
        call.text.push_str(&more[..end]);
        Some((call.index, more[..end].to_owned()))
    }
}
