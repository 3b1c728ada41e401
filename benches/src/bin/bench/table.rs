//! The table: each figure, what it is compared with, and the target.

use crate::Figures;

const ASYNC_OPENAI: &str = "async-openai by hand";
const REQWEST: &str = "reqwest and serde by hand";
const PLAIN: &str = "a call that goes well at once";

/// Prints all figures.
pub fn print(figures: &Figures, in_flight: u64) {
    println!("| figure | llmnode | compared with | ratio | target | met |");
    println!("|---|---|---|---|---|---|");
    over_http(figures);
    corrections(figures);
    memory(figures, in_flight);
    mocked(figures);
    rendering(figures);
}

fn over_http(figures: &Figures) {
    for in_flight in [1, 64, 1024] {
        let cpu = |client: &str| format!("{client}@{in_flight}.cpu");
        let what = format!("processor time of a call, {in_flight} in flight");
        let ours = cpu("llmnode");
        compared(
            figures,
            &what,
            "µs",
            &ours,
            ASYNC_OPENAI,
            &cpu("async-openai"),
            Some(1.1),
        );
        compared(figures, &what, "µs", &ours, REQWEST, &cpu("reqwest"), None);
    }
    let growth =
        |client: &str| figures.ratio(&format!("{client}@1024.cpu"), &format!("{client}@64.cpu"));
    let by_hand = format!("{REQWEST}: {:.2} ×", growth("reqwest"));
    let what = "growth of a call's processor time from 64 to 1024 in flight";
    alone(what, growth("llmnode"), "×", &by_hand, 1.6);
    compared(
        figures,
        "bytes sent by a call",
        "B",
        "llmnode@64.sent",
        ASYNC_OPENAI,
        "async-openai@64.sent",
        None,
    );
}

/// A correction sends the conversation so far once more, so it costs more than a second call.
fn corrections(figures: &Figures) {
    for in_flight in [1, 64, 1024] {
        let cpu = |client: &str| format!("{client}@{in_flight}.cpu");
        let what = format!("processor time of a call with one correction, {in_flight} in flight");
        compared(
            figures,
            &what,
            "µs",
            &cpu("llmnode-corrected"),
            PLAIN,
            &cpu("llmnode"),
            Some(2.1),
        );
        let what = format!("growth by one correction, {in_flight} in flight");
        let ours = figures.ratio(&cpu("llmnode-corrected"), &cpu("llmnode"));
        let by_hand = figures.ratio(&cpu("reqwest-corrected"), &cpu("reqwest"));
        row(&what, "×", ours, REQWEST, by_hand, ours / by_hand, None);
    }
    let what = "bytes sent by a call with one correction";
    compared(
        figures,
        what,
        "B",
        "llmnode-corrected@64.sent",
        PLAIN,
        "llmnode@64.sent",
        None,
    );
    // The processor time of more retries may grow as the bytes do that have to be sent.
    let growth = |what: &str| {
        figures.ratio(
            &format!("llmnode-8-retries.{what}"),
            &format!("llmnode-4-retries.{what}"),
        )
    };
    let (cpu, sent) = (growth("cpu"), growth("sent"));
    let what = "growth of processor time from 4 to 8 retries, all answers bad";
    row(
        what,
        "×",
        cpu,
        "growth of the bytes sent",
        sent,
        cpu / sent,
        Some(1.2),
    );
}

fn memory(figures: &Figures, in_flight: u64) {
    let what = format!("memory of a call, {in_flight} in flight");
    compared(
        figures,
        &what,
        "KB",
        "llmnode.memory",
        ASYNC_OPENAI,
        "async-openai.memory",
        Some(1.1),
    );
    compared(
        figures,
        &what,
        "KB",
        "llmnode.memory",
        REQWEST,
        "reqwest.memory",
        None,
    );
}

fn mocked(figures: &Figures) {
    let what = "own share of a call, transport mocked";
    alone(what, figures.of("mocked.plain"), "µs", "", 5.0);
    let what = "the same with 10 MB of state";
    compared(
        figures,
        what,
        "µs",
        "mocked.large-state",
        "1 KB of state",
        "mocked.plain",
        Some(1.05),
    );
    let what = "own share of a call with one correction";
    compared(
        figures,
        what,
        "µs",
        "mocked.corrected",
        PLAIN,
        "mocked.plain",
        Some(2.1),
    );
    alone(
        "of that, an attempt",
        figures.of("mocked.corrected") / 2.0,
        "µs",
        "",
        5.0,
    );
    let what = "allocations of a call, transport mocked";
    alone(what, figures.of("allocations.plain"), "", "", 30.0);
    let what = "the same with 10 MB of state";
    compared(
        figures,
        what,
        "",
        "allocations.large-state",
        "1 KB of state",
        "allocations.plain",
        Some(1.0),
    );
    let what = "allocations of an attempt, one correction in two attempts";
    alone(
        what,
        figures.of("allocations.corrected") / 2.0,
        "",
        "",
        30.0,
    );
}

fn rendering(figures: &Figures) {
    let what = "rendering 2 KB with 5 variables";
    compared(
        figures,
        what,
        "ns",
        "render.ours",
        "`format!`",
        "render.format",
        Some(1.1),
    );
    alone(
        "allocations of rendering",
        figures.of("allocations.render"),
        "",
        "",
        1.0,
    );
}

/// A figure beside another one that was measured in the same rounds.
fn compared(
    figures: &Figures,
    what: &str,
    unit: &str,
    ours: &str,
    label: &str,
    other: &str,
    at_most: Option<f64>,
) {
    let ratio = figures.ratio(ours, other);
    row(
        what,
        unit,
        figures.of(ours),
        label,
        figures.of(other),
        ratio,
        at_most,
    );
}

fn row(
    what: &str,
    unit: &str,
    ours: f64,
    label: &str,
    other: f64,
    ratio: f64,
    at_most: Option<f64>,
) {
    let (ours, other) = (with_unit(ours, unit), with_unit(other, unit));
    let target = at_most.map(|most| format!("≤ {most}")).unwrap_or_default();
    // What is shown as the limit is within it.
    let met = at_most
        .map(|most| yes_or_no((ratio * 100.0).round() <= most * 100.0))
        .unwrap_or_default();
    println!("| {what} | {ours} | {label}: {other} | {ratio:.2} | {target} | {met} |");
}

fn alone(what: &str, ours: f64, unit: &str, beside: &str, at_most: f64) {
    let (shown, target) = (with_unit(ours, unit), with_unit(at_most, unit));
    println!(
        "| {what} | {shown} | {beside} | | ≤ {target} | {} |",
        yes_or_no(ours <= at_most)
    );
}

fn yes_or_no(met: bool) -> &'static str {
    if met { "yes" } else { "**no**" }
}

fn with_unit(value: f64, unit: &str) -> String {
    let digits = match value {
        _ if unit.is_empty() && value.fract() == 0.0 => 0,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}").trim_end().to_owned()
}
