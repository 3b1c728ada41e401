//! The table: each figure, what it is compared with, and the target.

use crate::Figures;

/// Prints all figures.
pub fn print(figures: &Figures, in_flight: u64) {
    println!("| figure | llmnode | compared with | ratio | target | met |");
    println!("|---|---|---|---|---|---|");
    over_http(figures);
    memory(figures, in_flight);
    growth(figures);
    mocked(figures);
    rendering(figures);
}

fn over_http(figures: &Figures) {
    for in_flight in [1, 64, 1024] {
        let cpu = |client: &str| figures.of(&format!("{client}@{in_flight}.cpu"));
        let what = format!("processor time of a call, {in_flight} in flight");
        let ours = cpu("llmnode");
        ratio(&what, ours, "µs", "async-openai by hand", cpu("async-openai"), Some(1.1));
        ratio(&what, ours, "µs", "reqwest and serde by hand", cpu("reqwest"), None);
    }
    let growth = figures.of("llmnode@1024.cpu") / figures.of("llmnode@64.cpu");
    limit("processor time of a call, 1024 against 64 in flight", growth, "×", 1.6);
    let sent = |client: &str| figures.of(&format!("{client}@64.sent"));
    ratio("bytes sent by a call", sent("llmnode"), "B", "async-openai by hand", sent("async-openai"), None);
    corrections(figures);
}

/// A correction sends the conversation so far once more, so it costs more than a second call.
fn corrections(figures: &Figures) {
    for in_flight in [1, 64, 1024] {
        let cpu = |client: &str| figures.of(&format!("{client}@{in_flight}.cpu"));
        let (corrected, plain) = (cpu("llmnode-corrected"), cpu("llmnode"));
        let what = format!("processor time of a call with one correction, {in_flight} in flight");
        ratio(&what, corrected, "µs", "a call that goes well at once", plain, Some(2.1));
        let what = format!("growth by one correction, {in_flight} in flight");
        let by_hand = cpu("reqwest-corrected") / cpu("reqwest");
        ratio(&what, corrected / plain, "×", "reqwest and serde by hand", by_hand, None);
    }
    let sent = |client: &str| figures.of(&format!("{client}@64.sent"));
    let (corrected, plain) = (sent("llmnode-corrected"), sent("llmnode"));
    ratio(
        "bytes sent by a call with one correction",
        corrected,
        "B",
        "a call that goes well at once",
        plain,
        None,
    );
}

fn memory(figures: &Figures, in_flight: u64) {
    let of = |client: &str| figures.of(&format!("{client}.memory"));
    let what = format!("memory of a call, {in_flight} in flight");
    ratio(&what, of("llmnode"), "KB", "async-openai by hand", of("async-openai"), Some(1.1));
    ratio(&what, of("llmnode"), "KB", "reqwest and serde by hand", of("reqwest"), None);
}

/// The processor time of more retries may grow as the bytes do that have to be sent.
fn growth(figures: &Figures) {
    let of = |what: &str| {
        figures.of(&format!("llmnode-8-retries.{what}")) / figures.of(&format!("llmnode-4-retries.{what}"))
    };
    let what = "growth of processor time from 4 to 8 retries, all answers bad";
    ratio(what, of("cpu"), "×", "growth of the bytes sent", of("sent"), Some(1.2));
}

fn mocked(figures: &Figures) {
    let plain = figures.of("mocked.plain");
    limit("own share of a call, transport mocked", plain, "µs", 5.0);
    ratio(
        "own share, 10 MB of state",
        figures.of("mocked.large-state"),
        "µs",
        "1 KB of state",
        plain,
        Some(1.05),
    );
    limit(
        "own share of an attempt, one correction in two attempts",
        figures.of("mocked.corrected") / 2.0,
        "µs",
        5.0,
    );
    let plain = figures.of("allocations.plain");
    limit("allocations of a call, transport mocked", plain, "", 30.0);
    ratio(
        "allocations, 10 MB of state",
        figures.of("allocations.large-state"),
        "",
        "1 KB of state",
        plain,
        Some(1.0),
    );
    limit(
        "allocations of an attempt, one correction in two attempts",
        figures.of("allocations.corrected") / 2.0,
        "",
        30.0,
    );
}

fn rendering(figures: &Figures) {
    let (ours, format) = (figures.of("render.ours"), figures.of("render.format"));
    ratio("rendering 2 KB with 5 variables", ours, "ns", "`format!`", format, Some(1.1));
    limit("allocations of rendering", figures.of("allocations.render"), "", 1.0);
}

fn ratio(what: &str, ours: f64, unit: &str, other_name: &str, other: f64, at_most: Option<f64>) {
    let (shown, other_shown, ratio) = (with_unit(ours, unit), with_unit(other, unit), ours / other);
    let (target, met) = target(ratio, at_most);
    println!("| {what} | {shown} | {other_name}: {other_shown} | {ratio:.2} | {target} | {met} |");
}

fn limit(what: &str, ours: f64, unit: &str, at_most: f64) {
    let (shown, target) = (with_unit(ours, unit), format!("≤ {}", with_unit(at_most, unit)));
    println!("| {what} | {shown} | | | {target} | {} |", yes_or_no(ours <= at_most));
}

fn target(ratio: f64, at_most: Option<f64>) -> (String, &'static str) {
    // A ratio that is shown as the limit meets it.
    at_most.map_or((String::new(), ""), |most| {
        (format!("≤ {most}"), yes_or_no((ratio * 100.0).round() <= most * 100.0))
    })
}

fn yes_or_no(met: bool) -> &'static str {
    if met { "yes" } else { "**no**" }
}

fn with_unit(value: f64, unit: &str) -> String {
    let digits = if value < 10.0 {
        2
    } else if value < 100.0 {
        1
    } else {
        0
    };
    let value = format!("{value:.digits$}");
    // Counts are whole.
    if unit.is_empty() {
        value.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value} {unit}")
    }
}
