//! The calls: each attempt, what it asked and got, what was wrong with it, and the tools.
//!
//! The newest calls are written first, until the room is used up, and are then put in the order in which they began: of a run that
//! is too long for a page, its end says most. Within a call, the order is that of the run: attempt by attempt, each with the
//! messages that its request added to the one before, its answer, what was wrong with it, and its tools.

use std::time::Duration;

use llmnode_runtime::{AttemptRecord, CallRecord, Category, TokenUsage, ToolRecord, UsedFallback};

use crate::chart::class_of;
use crate::document::{
    CallEntry, Document, Exchange, Offered, OfferedTool, StepEntry, Text, ToolText, unix_ms,
};
use crate::html::{Attributes, Html};
use crate::reading::reading;
use crate::view::View;
use crate::words::{count, kind, money, optional, time, tokens, utc};

/// `room`: bytes for it. Calls that do not fit are left out, the oldest first.
pub(crate) fn section(html: &mut Html, view: &View<'_>, room: usize) {
    if view.calls.is_empty() {
        return;
    }
    let mut boxes = Vec::new();
    let mut left = room;
    for call in view.calls.iter().rev() {
        let mut html = Html::default();
        call_box(&mut html, view, call);
        let Some(rest) = left.checked_sub(html.len()) else {
            break;
        };
        left = rest;
        boxes.push(html);
    }
    html.section("Calls", |html| {
        if view.more.1 > 0 {
            let shown = count(view.calls.len() as u64, "call");
            html.leaf(
                "p",
                "more",
                format!("The newest {shown}; {} more are not shown.", view.more.1),
            );
        }
        let too_many = view.calls.len() - boxes.len();
        // Links of the chart lead to them all the same.
        for call in &view.calls[..too_many] {
            let id = format!("c-{}", call.number);
            html.element("span", &[("id", &id)], |_| {});
        }
        if too_many > 0 {
            let calls = count(too_many as u64, "call");
            html.leaf(
                "p",
                "banner wait",
                format!("{calls} left out, the oldest: a page has 16 MiB at most."),
            );
        }
        boxes.into_iter().rev().for_each(|call| html.append(call));
    });
}

const BEFORE_PAUSE: &str = "Counts what happened since then. What came before is in the recording of the call that paused.";

/// What the models were asked for beside messages.
pub(crate) fn offered(html: &mut Html, document: &Document) {
    let with_any =
        |(_, offered): &(&String, &Offered)| offered.schema.is_some() || !offered.tools.is_empty();
    let nodes: Vec<_> = document.offered.iter().filter(with_any).collect();
    if nodes.is_empty() {
        return;
    }
    html.section("Schemas and tools", |html| {
        for (node, Offered { schema, tools }) in nodes {
            html.element("details", &[("class", "callbox")], |html| {
                html.element("summary", &[], |html| html.leaf("span", "n", node));
                html.element("div", &[("class", "inner")], |html| {
                    schema
                        .iter()
                        .for_each(|schema| message(html, "msg", "schema of the answer", schema));
                    for OfferedTool {
                        name,
                        description,
                        schema,
                    } in tools
                    {
                        html.element("div", &[("class", "line called")], |html| {
                            html.leaf("strong", "", "Tool");
                            html.leaf("code", "", name);
                            html.leaf("span", "", description);
                        });
                        message(html, "msg", "schema of the arguments", schema);
                    }
                });
            });
        }
    });
}

fn call_box(html: &mut Html, view: &View<'_>, call: &CallEntry) {
    let record = call.record.as_deref();
    let attributes: Attributes<'_> = &[("class", "callbox"), ("open", "")];
    let attributes = if is_open(call) {
        attributes
    } else {
        &attributes[..1]
    };
    html.element("details", attributes, |html| {
        let step = view
            .steps
            .iter()
            .find(|step| call.step == Some(step.number));
        html.element("summary", &[], |html| summary(html, call, step));
        let id = format!("c-{}", call.number);
        html.element("div", &[("class", "inner"), ("id", &id)], |html| {
            for (name, value) in &call.labels {
                html.leaf("span", "tag", format!("{name}={value}"));
            }
            if let Some(record) = record {
                attempts(html, call, record);
                ending(html, call, record);
            } else {
                call.exchanges
                    .iter()
                    .for_each(|exchange| unfinished(html, exchange));
                html.leaf("p", "more", "It had not ended when the page was made.");
            }
        });
    });
}

/// Where something went wrong, or a tool was called.
fn is_open(call: &CallEntry) -> bool {
    call.record.as_deref().is_none_or(|record| {
        record.category.is_some()
            || record.used_fallback.is_some()
            || !record.failed_tries.is_empty()
            || !record.resumed_tools.is_empty()
            || record
                .attempts
                .iter()
                .any(|attempt| attempt.category.is_some() || !attempt.tools.is_empty())
    })
}

fn summary(html: &mut Html, call: &CallEntry, step: Option<&StepEntry>) {
    html.element("span", &[("class", "n")], |html| {
        html.text(&call.node);
        call.item
            .iter()
            .for_each(|item| html.text(format!("[{item}]")));
    });
    html.leaf("code", "id", call.id.to_string());
    if let Some(StepEntry {
        position, visit, ..
    }) = step
    {
        let visit = if *visit > 1 {
            format!(" · visit {visit}")
        } else {
            String::new()
        };
        html.leaf("span", "tag", format!("{position}{visit}"));
    }
    let Some(record) = call.record.as_deref() else {
        html.leaf("span", "pill wait", "running");
        return;
    };
    let (class, word) = match (record.category, record.used_fallback) {
        (Some(Category::Paused), _) => ("pill wait", "paused".to_owned()),
        (Some(category), _) => ("pill bad", category.to_string()),
        (None, Some(UsedFallback::Model)) => ("pill wait", "fallback model".to_owned()),
        (None, Some(_)) => ("pill wait", "fallback value".to_owned()),
        (None, None) => ("pill good", "ok".to_owned()),
    };
    html.leaf("span", class, word);
    if record.replayed > 0 {
        html.leaf(
            "span",
            "tag",
            format!("{} from a journal", count(record.replayed.into(), "answer")),
        );
    }
    html.leaf("span", "grow", "");
    let usage = record.usage();
    html.leaf("span", "num", count(usage.requests, "request"));
    if usage.requests > 0 {
        let cost = usage.cost.known();
        let cost = if cost > 0.0 {
            format!(" · {}", money(cost))
        } else {
            String::new()
        };
        html.leaf("span", "num", tokens(&usage.total) + &cost);
    }
    if let Some(share) = usage.cached_share().filter(|share| *share > 0.0) {
        html.leaf("span", "num", format!("{:.0} % cached", 100.0 * share));
    }
    html.leaf("span", "num", time(record.elapsed));
}

fn attempts(html: &mut Html, call: &CallEntry, record: &CallRecord) {
    for exchange in &call.exchanges {
        match record
            .attempts
            .iter()
            .find(|attempt| exchange.attempt == Some(attempt.id))
        {
            Some(attempt) => attempt_box(html, attempt, Some(exchange)),
            None if exchange.attempt.is_none() => replayed(html, exchange, &record.resumed_tools),
            None => {}
        }
    }
    record
        .attempts
        .iter()
        .filter(|attempt| call.exchange_of(attempt.id).is_none())
        .for_each(|attempt| attempt_box(html, attempt, None));
    if call.exchanges.is_empty() && !record.resumed_tools.is_empty() {
        html.element("article", &[("class", "attempt")], |html| {
            html.leaf("strong", "", "Continued after a pause");
            html.leaf("p", "more", BEFORE_PAUSE);
            tools(html, &record.resumed_tools, &[]);
        });
    }
}

/// The fallback, the error or the pause that the call ended with, below its last attempt.
fn ending(html: &mut Html, call: &CallEntry, record: &CallRecord) {
    for one in &record.failed_tries {
        let wait = waited(one.wait).map_or(String::new(), |waited| format!(" · {waited}"));
        let failure = format!(
            "Execution {}: {} · {}{wait}",
            one.number,
            one.category,
            time(one.elapsed)
        );
        html.leaf("p", "more", failure);
    }
    match record.used_fallback {
        Some(UsedFallback::Model) => {
            html.leaf("p", "more", "The output is that of a fallback model.")
        }
        Some(_) => {
            html.leaf(
                "p",
                "more",
                "The node's fallback value took the place of an answer.",
            );
            call.fallback
                .iter()
                .for_each(|value| message(html, "msg answer", "fallback value", value));
        }
        None => {}
    }
    if !call.corrected.is_empty() {
        html.leaf(
            "p",
            "more",
            format!("Corrected: {}", call.corrected.join(", ")),
        );
    }
    if let Some(error) = &call.error {
        let (class, who) = if record.category == Some(Category::Paused) {
            ("msg", "paused")
        } else {
            ("msg fault", "error")
        };
        message(html, class, who, error);
    }
}

fn attempt_box(html: &mut Html, attempt: &AttemptRecord, exchange: Option<&Exchange>) {
    let class = format!("attempt {}", class_of(attempt));
    html.element("article", &[("class", &class)], |html| {
        html.element("div", &[("class", "line")], |html| line(html, attempt));
        html.element("p", &[("class", "meta")], |html| {
            let id = attempt
                .request_id
                .as_ref()
                .map(|id| format!("provider's id {id}"));
            let refused = &attempt.refused;
            let refused =
                (!refused.is_empty()).then(|| format!("refused settings: {}", refused.join(", ")));
            let facts = [
                attempt.model.as_deref(),
                attempt.finish_reason.as_deref(),
                id.as_deref(),
                refused.as_deref(),
            ];
            let facts: Vec<&str> = facts.into_iter().flatten().collect();
            html.text(facts.join(" · "));
        });
        if let Some(exchange) = exchange {
            conversation(html, exchange, attempt.category.is_none());
        }
        tools(
            html,
            &attempt.tools,
            exchange.map_or(&[], |exchange| &exchange.tools),
        );
    });
}

fn line(html: &mut Html, attempt: &AttemptRecord) {
    html.leaf("strong", "", kind(attempt.kind));
    match attempt.category {
        Some(category) => html.leaf("span", "pill bad", category.to_string()),
        None if attempt.tools.is_empty() => html.leaf("span", "pill good", "accepted"),
        None => html.leaf("span", "pill good", "called tools"),
    }
    let status = attempt.status.map(|status| format!("HTTP {status}"));
    let format = attempt
        .response_format
        .map(|format| format!("answer format {format}"));
    let unsent = attempt.unsent.then(|| "not sent".to_owned());
    let flags = attempt
        .flags
        .iter()
        .map(|flag| flag.to_string().trim_matches('"').to_owned());
    let narrowed =
        (!attempt.narrowed.is_empty()).then(|| format!("narrowed {}", attempt.narrowed.join(", ")));
    for tag in status
        .into_iter()
        .chain(unsent)
        .chain(format)
        .chain(narrowed)
        .chain(flags)
    {
        html.leaf("span", "tag", tag);
    }
    if attempt.cache_lost().is_lost() {
        let lost = format!("cache {}", attempt.cache_lost());
        html.leaf("span", "tag", lost);
    }
    if let Some(batch) = &attempt.batch {
        let id = batch.batch.as_deref().unwrap_or(&batch.name);
        html.leaf("span", "tag", format!("batch {id}"));
    }
    html.leaf("span", "grow", "");
    let server_wait = attempt
        .retry_after
        .map(|wait| format!("server asked to wait {} or more", time(wait)));
    let cost = attempt.cost.map(money);
    let first = attempt
        .first_chunk
        .map(|elapsed| format!("began to answer after {}", time(elapsed)));
    for figure in [
        waited(attempt.wait),
        server_wait,
        first,
        Some(used(attempt.usage)),
        cost,
        Some(time(attempt.elapsed)),
    ] {
        figure
            .into_iter()
            .for_each(|figure| html.leaf("span", "num", figure));
    }
}

fn waited(wait: Duration) -> Option<String> {
    (wait > Duration::ZERO).then(|| format!("waited {} before", time(wait)))
}

fn used(usage: Option<TokenUsage>) -> String {
    let Some(TokenUsage {
        input,
        output,
        cached,
        reasoning,
        ..
    }) = usage
    else {
        return "tokens unknown".to_owned();
    };
    let mut words = format!("{} in · {} out", optional(input), optional(output));
    for (tokens, word) in [(cached, "cached"), (reasoning, "reasoning")] {
        if let Some(tokens) = tokens.filter(|tokens| *tokens > 0) {
            words.push_str(&format!(" · {tokens} {word}"));
        }
    }
    words
}

fn conversation(html: &mut Html, exchange: &Exchange, is_accepted: bool) {
    let Exchange {
        shared,
        messages,
        settings,
        answer,
        error,
        violations,
        compacted,
        ..
    } = exchange;
    if let Some(compacted) = compacted {
        html.leaf("p", "more", compacted);
    }
    if let Some(words) = sent_before(*shared, messages.is_empty()) {
        html.leaf("p", "more", words);
    }
    if !settings.is_empty() {
        html.leaf("p", "more", settings.join(" · "));
    }
    for Text { role, text } in messages {
        message(html, "msg", role, text);
    }
    if let Some(answer) = answer.as_deref().filter(|answer| !answer.is_empty()) {
        read(
            html,
            "msg answer",
            if is_accepted {
                "answer"
            } else {
                "rejected answer"
            },
            answer,
        );
    }
    if !violations.is_empty() {
        let who = if is_accepted {
            "warnings"
        } else {
            "rejected because"
        };
        message(
            html,
            if is_accepted { "msg" } else { "msg fault" },
            who,
            &violations.join("\n"),
        );
    }
    if let Some(error) = error.as_deref().filter(|_| violations.is_empty()) {
        message(html, "msg fault", "error", error);
    }
}

/// What was sent of the messages above, where some were: they are not shown again.
/// `is_all`: nothing followed them.
fn sent_before(shared: usize, is_all: bool) -> Option<String> {
    Some(match (shared, is_all) {
        (0, _) => return None,
        (1, true) => "Only the first message above was sent again.".to_owned(),
        (shared, true) => format!("Only the first {shared} messages above were sent again."),
        (1, false) => "After the message above:".to_owned(),
        (shared, false) => format!("After the first {shared} messages above:"),
    })
}

fn replayed(html: &mut Html, exchange: &Exchange, records: &[ToolRecord]) {
    let is_answer = exchange.answer.is_some() || !exchange.messages.is_empty();
    html.element("article", &[("class", "attempt replay")], |html| {
        html.element("div", &[("class", "line")], |html| {
            html.leaf(
                "strong",
                "",
                if is_answer {
                    "From a journal"
                } else {
                    "Continued after a pause"
                },
            );
            html.leaf("span", "tag", "no request");
        });
        if !is_answer {
            html.leaf("p", "more", BEFORE_PAUSE);
        }
        conversation(html, exchange, true);
        let records: Vec<ToolRecord> = records
            .iter()
            .filter(|record| exchange.tools.iter().any(|tool| tool.id == record.id))
            .cloned()
            .collect();
        tools(html, &records, &exchange.tools);
    });
}

fn unfinished(html: &mut Html, exchange: &Exchange) {
    html.element("article", &[("class", "attempt replay")], |html| {
        let ended = exchange.answer.is_some() || exchange.error.is_some();
        html.leaf(
            "strong",
            "",
            if ended {
                "Request"
            } else {
                "Request under way"
            },
        );
        conversation(
            html,
            exchange,
            exchange.error.is_none() && exchange.violations.is_empty(),
        );
        exchange
            .tools
            .iter()
            .for_each(|tool| tool_texts(html, tool));
    });
}

fn tools(html: &mut Html, records: &[ToolRecord], texts: &[ToolText]) {
    for record in records {
        html.element("div", &[("class", "line called")], |html| {
            html.leaf("strong", "", "Tool");
            html.leaf("code", "", &record.name);
            let class = match &*record.outcome {
                "ok" | "replayed" => "pill good",
                "waiting" | "called" => "pill wait",
                _ => "pill bad",
            };
            html.leaf("span", class, &record.outcome);
            if record.decided && record.outcome != "denied" {
                let at = record
                    .started
                    .map_or(String::new(), |at| format!(", ran at {}", utc(unix_ms(at))));
                html.leaf("span", "tag", format!("approved{at}"));
            }
            if record.edited {
                html.leaf("span", "tag", "arguments edited");
            }
            html.leaf("span", "grow", "");
            if record.elapsed > Duration::ZERO {
                html.leaf("span", "num", time(record.elapsed));
            }
        });
        texts
            .iter()
            .filter(|text| text.id == record.id)
            .for_each(|text| tool_texts(html, text));
    }
}

fn tool_texts(html: &mut Html, tool: &ToolText) {
    message(html, "msg", "arguments", &tool.arguments);
    if let Some(edited) = &tool.edited {
        message(html, "msg", "edited to", edited);
    }
    if let Some(result) = &tool.result {
        read(html, "msg answer", "result", result);
    }
}

/// An answer or a result: for reading.
fn read(html: &mut Html, class: &str, who: &str, text: &str) {
    html.element("div", &[("class", class)], |html| {
        html.leaf("span", "who", who);
        html.element("div", &[], |html| reading(html, text));
    });
}

pub(crate) fn message(html: &mut Html, class: &str, who: &str, text: &str) {
    html.element("div", &[("class", class)], |html| {
        html.leaf("span", "who", who);
        html.verbatim(text);
    });
}
