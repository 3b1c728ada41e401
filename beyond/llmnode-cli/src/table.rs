//! The run of a graph as a live table: a line for each node, with its time, its tokens, and what its agent writes.

use std::collections::BTreeMap;
use std::io::{IsTerminal, stderr};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use llmnode_flow::flow::{FlowEvent, Position, StepRecord};
use llmnode_reader::text::{is_hidden, visible};
use llmnode_runtime::Event;

use crate::terminal::print_line;

/// Characters of a streamed text in one line.
const SHOWN: usize = 60;

/// Without a terminal, each step is printed when it has ended.
pub(crate) struct Table {
    lines: MultiProgress,
    rows: BTreeMap<String, Row>,
    is_live: bool,
}

struct Row {
    line: ProgressBar,
    text: String,
    visits: u64,
    elapsed: Duration,
    tokens: Option<u64>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Table {
            lines: MultiProgress::new(),
            rows: BTreeMap::new(),
            is_live: stderr().is_terminal(),
        }
    }

    pub(crate) fn step(&mut self, event: &FlowEvent<'_>) {
        match event {
            FlowEvent::StepBegins { position, .. } => {
                let row = self.row(&position.to_string());
                row.text.clear();
                row.line.reset();
                row.line.set_message("…");
            }
            FlowEvent::StepEnded { step, .. } => self.ended(step),
            _ => {}
        }
    }

    pub(crate) fn text(&mut self, position: &Position, event: &Event) {
        let row = self.row(&position.to_string());
        match event {
            Event::Text(more) => row.text.push_str(more),
            Event::ToolCalls(calls) => {
                let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
                row.text = format!("calls {} ", names.join(", "));
            }
            Event::Restarted { category, .. } => row.text = format!("({category}, once more) "),
            _ => return,
        }
        let tail = tail(&row.text);
        row.line.set_message(tail);
    }

    /// Keeps the lines, so that later output is printed below them.
    pub(crate) fn close(&mut self) {
        self.rows.values().for_each(|row| row.line.abandon());
        if self.is_live {
            print_line("");
        }
    }

    fn row(&mut self, name: &str) -> &mut Row {
        let Table {
            lines,
            rows,
            is_live,
        } = self;
        rows.entry(name.to_owned()).or_insert_with(|| {
            let line = ProgressBar::new_spinner().with_prefix(visible(name).into_owned());
            let style = ProgressStyle::with_template("{spinner} {prefix:16.bold} {msg}");
            line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            let line = lines.add(line);
            if *is_live {
                line.enable_steady_tick(Duration::from_millis(100));
            }
            Row {
                line,
                text: String::new(),
                visits: 0,
                elapsed: Duration::ZERO,
                tokens: Some(0),
            }
        })
    }

    fn ended(&mut self, step: &StepRecord) {
        let name = step.position.to_string();
        let is_live = self.is_live;
        let row = self.row(&name);
        row.visits += 1;
        row.elapsed += step.elapsed;
        let usage = &step.usage;
        // Unknown if a request did not report it.
        let tokens = if usage.requests == 0 {
            Some(0)
        } else {
            usage.total.total()
        };
        row.tokens = row.tokens.zip(tokens).map(|(sum, more)| sum + more);
        let mut told = vec![format!("{:.2} s", row.elapsed.as_secs_f64())];
        match row.tokens {
            Some(0) => {}
            Some(tokens) => told.push(format!("{tokens} tokens")),
            None => told.push(format!("~{} tokens", usage.estimated)),
        }
        if row.visits > 1 {
            told.push(format!("{} visits", row.visits));
        }
        if !step.action.is_empty() {
            told.push(format!("→ {}", visible(&step.action)));
        }
        if let Some(category) = step.category {
            told.push(category.to_string());
        }
        let text = tail(&row.text);
        let told = format!("{}  {text}", told.join(", "));
        row.line.finish_with_message(told.clone());
        if !is_live {
            print_line(&format!("{name}: {}", told.trim_end()));
        }
    }
}

fn tail(text: &str) -> String {
    let line: Vec<char> = text
        .chars()
        .map(|c| {
            if is_hidden(c) || c.is_whitespace() {
                ' '
            } else {
                c
            }
        })
        .collect();
    let from = line.len().saturating_sub(SHOWN);
    let cut = if from > 0 { "…" } else { "" };
    cut.chars().chain(line[from..].iter().copied()).collect()
}
