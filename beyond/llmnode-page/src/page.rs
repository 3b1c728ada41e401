//! The page: one file, without a script and without requests.
//!
//! What is most asked for comes first: the state and the figures, the result, the way of the flow, the time, the states, the
//! calls. Calls get the room that the others leave, since they are the longest part; therefore the schemas, which follow them, are
//! written before them and appended after them.
//!
//! The page is opened from mails and bug reports, so its policy forbids everything but its own style sheet, by its hash.

use std::collections::HashMap;
use std::time::Duration;

use llmnode_flow::flow::Outline;
use llmnode_runtime::{Category, Tokens, Usage};

use crate::document::{Document, FlowEntry, Setup, Totals};
use crate::html::Html;
use crate::reading::reading;
use crate::view::{State, View};
use crate::words::{cost, count, money, number, time, tokens, utc};
use crate::{calls, chart, picture, states};

pub(crate) const STYLE: &str = include_str!("page.css");
/// Of the style sheet; a test computes it.
const STYLE_SHA256: &str = "whVlK43uMhi0OAVOTxy7UAOt6jeeYjkR8NkgfeUDjQQ=";

/// Bigger pictures cannot be read.
pub(crate) const DRAWN: usize = 256;
const PICTURES: usize = 8;
/// Bytes of a page.
const MOST: usize = 16 << 20;
/// For what is around calls.
const ROOM: usize = 64 << 10;
/// Bytes of a text in the head.
const HEAD: usize = 64 << 10;

pub(crate) fn page(document: &Document) -> String {
    let view = View::of(document);
    let title = short(&view.title());
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_SHA256}'; base-uri 'none'; form-action 'none'"
    );
    let mut html = Html::default();
    html.markup("<!DOCTYPE html>\n");
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| {
            html.void("meta", &[("charset", "utf-8")]);
            html.void(
                "meta",
                &[
                    ("http-equiv", "Content-Security-Policy"),
                    ("content", &policy),
                ],
            );
            html.void(
                "meta",
                &[
                    ("name", "viewport"),
                    ("content", "width=device-width, initial-scale=1"),
                ],
            );
            html.void(
                "meta",
                &[("name", "color-scheme"), ("content", "light dark")],
            );
            html.leaf("title", "", format!("{title} – llmnode"));
            html.element("style", &[], |html| html.markup(STYLE));
        });
        html.element("body", &[], |html| {
            html.element("header", &[], |html| head(html, &view, &title));
            html.element("main", &[], |html| {
                let part = MOST / 8;
                bounded(html, "The result", part, |html| result(html, &view));
                bounded(html, "The path", part, |html| path(html, &view));
                bounded(html, "The chart", part, |html| chart::section(html, &view));
                bounded(html, "The states", part, |html| {
                    states::section(html, &view)
                });
                let mut offered = Html::default();
                bounded(&mut offered, "The schemas", part, |html| {
                    calls::offered(html, document)
                });
                let used = html.len() + offered.len();
                calls::section(html, &view, MOST.saturating_sub(used + ROOM));
                html.append(offered);
            });
            html.element("footer", &[], |html| foot(html, document));
        });
    });
    html.into_string()
}

fn short(text: &str) -> String {
    if text.len() <= HEAD {
        return text.to_owned();
    }
    let end = (0..=HEAD)
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    format!("{} [{} more bytes]", &text[..end], text.len() - end)
}

/// A part of the page that is left out if it is too long: a file from elsewhere may have names of any length.
fn bounded(html: &mut Html, what: &str, most: usize, write: impl FnOnce(&mut Html)) {
    let mut part = Html::default();
    write(&mut part);
    if part.len() <= most {
        html.append(part);
    } else {
        html.leaf(
            "p",
            "banner wait",
            format!("{what} would take {} bytes, and is left out.", part.len()),
        );
    }
}

fn head(html: &mut Html, view: &View<'_>, title: &str) {
    let Document {
        totals,
        with_content,
        ..
    } = view.document;
    let state = view.state();
    html.element("div", &[("class", "head")], |html| {
        html.leaf("h1", "", title);
        let (class, word) = match state {
            State::Completed if totals.used_fallback > 0 => {
                ("pill wait", "completed with fallbacks".to_owned())
            }
            _ => pill(&state),
        };
        html.leaf("span", class, word);
    });
    html.element("p", &[("class", "sub")], |html| {
        html.text(totals.started_unix_ms.map_or("not started".to_owned(), utc));
        html.text(match (view.outer_flows().count(), totals.outer_calls) {
            (0, calls) => format!(" · {}", count(calls, "call")),
            (flows, 0) => format!(" · {}", count(flows as u64, "flow")),
            (flows, calls) => format!(
                " · {}, {}",
                count(flows as u64, "flow"),
                count(calls, "call")
            ),
        });
        html.text(if *with_content {
            " · with prompts and answers"
        } else {
            " · figures only; prompts, answers and texts of errors were not recorded"
        });
    });
    setup(html, view);
    if let State::Failed(_) | State::Partly(..) = state {
        html.leaf("p", banner(&state), short(&failure(view, &state)));
    }
    if let Some(first) = resumed_at(view) {
        html.leaf(
            "p",
            "banner wait",
            short(&format!(
                "Continued at {first}: the steps before are those of an earlier process."
            )),
        );
    }
    facts(html, view);
}

fn setup(html: &mut Html, view: &View<'_>) {
    let Setup { models, limits, .. } = &view.document.setup;
    let mut parts = Vec::new();
    if !models.is_empty() {
        parts.push(format!("Models: {}", models.join(", ")));
    }
    if !limits.is_empty() {
        parts.push(format!("May use at most {}", limits.join(", ")));
    }
    if !parts.is_empty() {
        html.leaf("p", "sub", short(&parts.join(" · ")));
    }
}

fn pill(state: &State) -> (&'static str, String) {
    match state {
        State::Empty => ("pill wait", "nothing recorded".to_owned()),
        State::Running => ("pill wait", "running".to_owned()),
        State::Completed => ("pill good", "completed".to_owned()),
        State::Failed(Category::Paused) => ("pill wait", "paused".to_owned()),
        State::Failed(category) => ("pill bad", category.to_string()),
        State::Partly(failed, all) => ("pill bad", format!("{failed} of {all} failed")),
    }
}

fn banner(state: &State) -> &'static str {
    if let State::Failed(Category::Paused) = state {
        "banner wait"
    } else {
        "banner"
    }
}

fn failure(view: &View<'_>, state: &State) -> String {
    let at = view.outer_flows().find_map(|flow| flow.position.as_ref());
    let at = at.map_or(String::new(), |position| format!(" at {position}"));
    match (view.error(), state) {
        (Some(error), _) => error.to_owned(),
        (None, State::Failed(Category::Cancelled)) => format!("It was dropped{at} before its end."),
        (None, State::Failed(category)) => {
            format!("{category}{at}. The text of the error was not recorded.")
        }
        _ => "The texts of the errors were not recorded.".to_owned(),
    }
}

/// A flow that a journal continues does not begin at its first step.
fn resumed_at(view: &View<'_>) -> Option<String> {
    let flow = view.outer_flows().next()?;
    let (Outline::Flow(_, steps), Some(stats)) = (&flow.outline, flow.stats.first()) else {
        return None;
    };
    let first = steps.first()?;
    let begun = stats.position.labels().next()?;
    (first.label != begun).then(|| stats.position.to_string())
}

/// The figures of the whole run, in a row.
fn facts(html: &mut Html, view: &View<'_>) {
    let totals = &view.document.totals;
    let usage = &totals.usage;
    let started = totals.started_unix_ms.unwrap_or(totals.ended_unix_ms);
    let elapsed = Duration::from_millis(totals.ended_unix_ms.saturating_sub(started));
    let (cost, of_cost) = cost(usage);
    let of_cost: Vec<String> = of_cost
        .map(str::to_owned)
        .into_iter()
        .chain(of_prices(view))
        .collect();
    html.element("dl", &[("class", "facts")], |html| {
        fact(html, "Time", &time(elapsed), &[]);
        if totals.steps > 0 {
            fact(html, "Steps", &number(totals.steps), &[]);
        } else {
            fact(html, "Calls", &number(totals.outer_calls), &[]);
        }
        let of_requests = of_requests(totals);
        fact(html, "Requests", &number(usage.requests), &of_requests);
        token_fact(html, "Tokens in", &usage.input);
        token_fact(html, "Tokens out", &usage.output);
        fact(html, "Cost", &cost, &of_cost);
    });
    by_model(html, view);
}

/// What a bare count of requests would hide: failures, and outputs for which no request was made.
fn of_requests(totals: &Totals) -> Vec<String> {
    let mut notes = Vec::new();
    if totals.failed_requests > 0 {
        notes.push(format!(
            "{} of them failed or rejected",
            number(totals.failed_requests)
        ));
    }
    if totals.replayed > 0 {
        let tokens_then = tokens(&totals.replayed_usage.total);
        let cost_then = totals.replayed_usage.cost.known();
        let cost_then = if cost_then > 0.0 {
            format!(", {}", money(cost_then))
        } else {
            String::new()
        };
        notes.push(format!(
            "+ {} from a journal ({tokens_then}{cost_then} then)",
            count(totals.replayed, "answer")
        ));
    }
    if totals.used_fallback > 0 {
        notes.push(format!(
            "{} from a fallback",
            count(totals.used_fallback, "output")
        ));
    }
    notes
}

/// Tokens of which no request reported any are unknown, and not 0.
fn token_fact(html: &mut Html, name: &str, tokens: &Tokens) {
    let missing = tokens.unreported_calls;
    let value = if tokens.known == 0 && missing > 0 {
        "unknown".to_owned()
    } else {
        number(tokens.known)
    };
    let mut notes = Vec::new();
    if missing > 0 {
        notes.push(format!("+ {} without a report", count(missing, "request")));
    }
    fact(html, name, &value, &notes);
}

/// Where more than one was asked.
fn by_model(html: &mut Html, view: &View<'_>) {
    let Document { calls, totals, .. } = view.document;
    let mut sums: Vec<(&str, Usage)> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    for attempt in calls
        .iter()
        .filter_map(|call| call.record.as_deref())
        .flat_map(|record| &record.attempts)
    {
        let usage = Usage::from(attempt);
        if usage.requests > 0 {
            let model = attempt.model.as_deref().unwrap_or("without a name");
            let at = *index.entry(model).or_insert(sums.len());
            match sums.get_mut(at) {
                Some((_, sum)) => *sum += usage,
                None => sums.push((model, usage)),
            }
        }
    }
    if sums.len() < 2 {
        return;
    }
    let sums: Vec<String> = sums
        .iter()
        .map(|(model, usage)| model_sum(model, usage))
        .collect();
    let of = if totals.left_out > 0 {
        " (of the calls that are kept)"
    } else {
        ""
    };
    html.leaf(
        "p",
        "sub",
        short(&format!("By model{of}: {}", sums.join(" · "))),
    );
}

fn model_sum(model: &str, usage: &Usage) -> String {
    let cost = usage
        .cost
        .total()
        .map_or(String::new(), |cost| format!(", {}", money(cost)));
    format!(
        "{model}: {}, {}{cost}",
        count(usage.requests, "request"),
        tokens(&usage.total)
    )
}

/// Which prices they are, and why a cost is unknown.
fn of_prices(view: &View<'_>) -> Vec<String> {
    let list_date = view
        .document
        .setup
        .prices_made
        .as_ref()
        .map(|list_date| format!("US dollars, list of {list_date}"));
    let attempts = view
        .calls
        .iter()
        .filter_map(|call| call.record.as_deref())
        .flat_map(|record| &record.attempts);
    let unpriced = attempts
        .filter(|attempt| attempt.usage.is_some() && attempt.cost.is_none())
        .map(|attempt| {
            attempt
                .model
                .as_deref()
                .map_or("a model without a name".to_owned(), str::to_owned)
        })
        .next()
        .map(|model| format!("no price for {model}"));
    list_date.into_iter().chain(unpriced).collect()
}

fn fact(html: &mut Html, name: &str, value: &str, notes: &[String]) {
    html.element("div", &[], |html| {
        html.leaf("dt", "", name);
        html.element("dd", &[], |html| {
            html.text(value);
            notes
                .iter()
                .for_each(|note| html.leaf("span", "note", short(note)));
        });
    });
}

/// The state that the newest flow ended with.
fn result(html: &mut Html, view: &View<'_>) {
    let outputs: Vec<&String> = view
        .outer_flows()
        .filter_map(|flow| flow.output.as_ref())
        .collect();
    let Some(newest) = outputs.last() else { return };
    html.section("Result", |html| {
        if outputs.len() > 1 {
            html.leaf("p", "more", format!("The newest of {}.", outputs.len()));
        }
        reading(html, newest);
    });
}

fn path(html: &mut Html, view: &View<'_>) {
    let mut groups: Vec<(&FlowEntry, Vec<&FlowEntry>)> = Vec::new();
    for flow in &view.document.flows {
        // Flows of one outline at one place are one picture: a graph that ran in a loop, for example.
        let group = groups
            .iter_mut()
            .find(|(first, _)| first.around == flow.around && first.outline == flow.outline);
        match group {
            Some((_, flows)) => flows.push(flow),
            None => groups.push((flow, vec![flow])),
        }
    }
    if groups.is_empty() {
        return;
    }
    html.section("Path", |html| {
        for (first, flows) in groups.iter().take(PICTURES) {
            if groups.len() > 1 {
                let around =
                    first.around.as_ref().map_or(String::new(), |around| format!(" within {around}"));
                html.leaf("h3", "", format!("{}{around}", first.name));
            }
            picture_of(html, first, flows);
        }
        if groups.len() > PICTURES {
            html.leaf("p", "more", format!("{} more flows are not drawn.", groups.len() - PICTURES));
        }
        html.element("p", &[("class", "key")], |html| {
            html.markup(r#"<span class="k solid"></span>taken<span class="k dashed"></span>not taken"#);
            html.text(if resumed_at(view).is_some() { " in this process" } else { "" });
            html.markup(r#"<span class="k bad"></span>failed<span class="k waits"></span>paused or running"#);
        });
    });
}

fn picture_of(html: &mut Html, flow: &FlowEntry, flows: &[&FlowEntry]) {
    let Outline::Flow(_, steps) = &flow.outline else {
        return;
    };
    let size = picture::size(&flow.outline);
    if size > DRAWN {
        html.leaf(
            "p",
            "more",
            format!("The flow has {size} steps, too many to draw."),
        );
        return;
    }
    html.element(
        "div",
        &[
            ("class", "scroll"),
            ("tabindex", "0"),
            ("role", "region"),
            ("aria-label", &flow.name),
        ],
        |html| {
            picture::draw(html, &flow.name, steps, &picture::Visits::of(flows));
        },
    );
}

fn foot(html: &mut Html, document: &Document) {
    html.text(format!(
        "Made by llmnode {}. One file, no script, no requests. ",
        short(&document.llmnode)
    ));
    if document.totals.left_out > 0 {
        let left_out = number(document.totals.left_out);
        html.text(format!(
            "Steps and calls that are not kept: {left_out}, the oldest; the figures are of all. "
        ));
    }
    if document.with_content {
        html.text("It holds prompts and answers: treat it as you treat them.");
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn the_policy_allows_the_style_sheet() {
        assert_eq!(
            STYLE_SHA256,
            STANDARD.encode(llmnode_model::internal::sha256(STYLE.as_bytes()))
        );
    }
}
