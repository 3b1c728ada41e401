//! Where the time went: a bar for each request, tool and wait.
//!
//! Rows are those of `view.rs`: steps and calls as they began, inner ones below outer ones. All share one axis, which begins with
//! the first row and not with the recording, and ends with the last event. Within a row, the bars of attempts and of their tools
//! follow each other, as a call waits for each before it goes on.

use std::time::Duration;

use llmnode_runtime::{AttemptKind, AttemptRecord, Category, ToolRecord};

use crate::document::{CallEntry, StepEntry, unix_ms};
use crate::html::Html;
use crate::view::{Row, View};
use crate::words::{count, time};

struct Axis {
    from: u64,
    length: u64,
}

pub(crate) fn section(html: &mut Html, view: &View<'_>) {
    let rows = view.rows();
    let starts = rows.iter().map(|row| match row {
        Row::Step(step) => step.started_unix_ms,
        Row::Call(call, _) => call.started_unix_ms,
    });
    let Some(from) = starts.min() else { return };
    let axis = Axis {
        from,
        length: view
            .document
            .totals
            .ended_unix_ms
            .saturating_sub(from)
            .max(1),
    };
    html.section("Time", |html| {
        if view.more.0 > 0 {
            let all = view.document.totals.steps;
            let shown = count(view.steps.len() as u64, "step");
            html.leaf(
                "p",
                "more",
                format!("The newest {shown} of {all}; the figures above are of all."),
            );
        }
        html.element("div", &[("class", "chart")], |html| {
            axis.scale(html);
            for row in rows {
                match row {
                    Row::Step(step) => axis.step(html, step),
                    Row::Call(call, depth) => axis.call(html, call, depth),
                }
            }
        });
        html.markup(KEY);
    });
}

const KEY: &str = r#"<p class="key"><span class="k good"></span>request<span class="k bad"></span>failed or rejected<span class="k fixed"></span>correction<span class="k turn"></span>turn of an agent<span class="k tool"></span>tool<span class="k wait"></span>wait</p>"#;

impl Axis {
    fn scale(&self, html: &mut Html) {
        html.element(
            "div",
            &[("class", "row scale"), ("aria-hidden", "true")],
            |html| {
                html.markup("<div></div>");
                html.element("div", &[("class", "ticks")], |html| {
                    for part in 0..=4 {
                        html.leaf(
                            "span",
                            "",
                            time(Duration::from_millis(
                                self.length / 4 * part + self.length % 4 * part / 4,
                            )),
                        );
                    }
                });
                html.markup("<div></div>");
            },
        );
    }

    fn bar(&self, html: &mut Html, class: &str, (from, long): (u64, Duration), title: &str) {
        let all = self.length as f64;
        // As exact as a recording's JSON. Starts are in whole milliseconds, so a bar could end beyond the axis.
        let long = (long.as_micros() as f64 / 1000.0).clamp(all / 500.0, all);
        let start = (from.saturating_sub(self.from) as f64).min(all - long);
        let x = percent(start, all);
        let width = percent(long, all);
        // Form distinguishes them, too, and not only colour.
        let (y, height) = match class {
            "wait" => ("9", "4"),
            "bad" => ("3", "16"),
            "tool" => ("7", "8"),
            _ => ("5", "12"),
        };
        let attributes = &[
            ("class", class),
            ("x", &*x),
            ("width", &*width),
            ("y", y),
            ("height", height),
        ];
        html.element("rect", attributes, |html| html.leaf("title", "", title));
    }

    fn row(
        &self,
        html: &mut Html,
        class: &str,
        name: impl FnOnce(&mut Html),
        bars: impl FnOnce(&mut Html),
        elapsed: Option<Duration>,
    ) {
        html.element("div", &[("class", class)], |html| {
            html.element("div", &[("class", "lab")], name);
            html.element("svg", &[("class", "lane")], bars);
            html.leaf("div", "dur", elapsed.map_or("running".to_owned(), time));
        });
    }

    fn step(&self, html: &mut Html, step: &StepEntry) {
        let elapsed = step.ended.as_ref().map(|ended| ended.elapsed);
        let duration = elapsed.unwrap_or_else(|| self.rest(step.started_unix_ms));
        let title = format!(
            "{} · {}",
            step.node,
            elapsed.map_or("running".to_owned(), time)
        );
        self.row(
            html,
            "row step",
            |html| step_name(html, step),
            |html| self.bar(html, "frame", (step.started_unix_ms, duration), &title),
            elapsed,
        );
    }

    fn rest(&self, from: u64) -> Duration {
        Duration::from_millis(self.from.saturating_add(self.length).saturating_sub(from))
    }

    fn call(&self, html: &mut Html, call: &CallEntry, depth: usize) {
        let class = [
            "row call",
            "row call in",
            "row call deep",
            "row call deeper",
        ][depth.min(3)];
        self.row(
            html,
            class,
            |html| call_name(html, call),
            |html| self.call_bars(html, call),
            call.record.as_ref().map(|record| record.elapsed),
        );
    }

    /// A frame where nothing is known of attempts; else the bars of its attempts, one after the other.
    fn call_bars(&self, html: &mut Html, call: &CallEntry) {
        let started = call.started_unix_ms;
        match call.record.as_deref() {
            None => self.bar(html, "frame", (started, self.rest(started)), "running"),
            Some(record) if record.attempts.is_empty() => {
                let title = format!("no request · {}", time(record.elapsed));
                self.bar(html, "frame", (started, record.elapsed), &title);
            }
            Some(record) => {
                let mut next = self.tools(html, &record.resumed_tools, started);
                for attempt in &record.attempts {
                    next = self.attempt(html, attempt, next);
                }
            }
        }
    }

    /// Returns when it ended, with its tools: records of older versions do not say when an attempt began.
    fn attempt(&self, html: &mut Html, attempt: &AttemptRecord, before: u64) -> u64 {
        let from = attempt
            .started
            .map_or_else(|| before.saturating_add(ms(attempt.wait)), unix_ms);
        if attempt.wait > Duration::ZERO {
            let begin = from.saturating_sub(ms(attempt.wait));
            self.bar(
                html,
                "wait",
                (begin, attempt.wait),
                &format!("waited {}", time(attempt.wait)),
            );
        }
        let outcome = match attempt.category {
            Some(category) => category.to_string(),
            None => if attempt.tools.is_empty() {
                "accepted"
            } else {
                "called tools"
            }
            .to_owned(),
        };
        let title = format!(
            "{} · {outcome} · {}",
            attempt.kind.as_str(),
            time(attempt.elapsed)
        );
        self.bar(html, class_of(attempt), (from, attempt.elapsed), &title);
        let ended = from.saturating_add(ms(attempt.elapsed));
        self.tools(html, &attempt.tools, ended)
    }

    fn tools(&self, html: &mut Html, tools: &[ToolRecord], before: u64) -> u64 {
        let mut last = before;
        for tool in tools
            .iter()
            .filter(|tool| tool.started.is_some() || tool.elapsed > Duration::ZERO)
        {
            let from = tool.started.map_or(before, unix_ms);
            let title = format!(
                "tool {} · {} · {}",
                tool.name,
                tool.outcome,
                time(tool.elapsed)
            );
            self.bar(html, "tool", (from, tool.elapsed), &title);
            last = last.max(from.saturating_add(ms(tool.elapsed)));
        }
        last
    }
}

fn step_name(html: &mut Html, step: &StepEntry) {
    let id = format!("s-{}", step.number);
    html.element("span", &[("id", &id)], |html| {
        html.text(step.position.to_string())
    });
    if step.visit > 1 {
        html.leaf("span", "visit", format!("visit {}", step.visit));
    }
    if let Some(category) = step.ended.as_ref().and_then(|ended| ended.category) {
        html.leaf("span", ended_by(category), category.to_string());
    }
}

fn call_name(html: &mut Html, call: &CallEntry) {
    html.element("a", &[("href", &format!("#c-{}", call.number))], |html| {
        html.text(&call.node);
        if let Some(item) = call.item {
            html.text(format!("[{item}]"));
        }
    });
    let requests = call
        .record
        .as_ref()
        .map_or(0, |record| record.attempts.len());
    if requests > 1 {
        html.leaf("span", "visit", count(requests as u64, "request"));
    }
    if let Some(category) = call.category() {
        html.leaf("span", ended_by(category), category.to_string());
    }
}

fn ended_by(category: Category) -> &'static str {
    if category == Category::Paused {
        "visit"
    } else {
        "visit no"
    }
}

fn percent(part: f64, all: f64) -> String {
    format!("{:.2}%", part * 100.0 / all)
}

fn ms(long: Duration) -> u64 {
    u64::try_from(long.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn class_of(attempt: &AttemptRecord) -> &'static str {
    match (attempt.category, attempt.kind) {
        (Some(_), _) => "bad",
        (None, AttemptKind::Correction) => "fixed",
        (None, AttemptKind::Turn) => "turn",
        _ => "good",
    }
}
