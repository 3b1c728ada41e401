//! What each step changed: values of the state before and after it, where a flow has a text of its state.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use crate::document::StepEntry;
use crate::html::Html;
use crate::reading::reading;
use crate::view::View;

pub(crate) fn section(html: &mut Html, view: &View<'_>) {
    let flows = view.document.flows.iter();
    let mut now: HashMap<u64, &str> = flows
        .filter_map(|flow| Some((flow.number, flow.state.as_deref()?)))
        .collect();
    let shown: BTreeSet<u64> = view.steps.iter().map(|step| step.number).collect();
    let mut changes = Vec::new();
    for step in &view.document.steps {
        let Some(after) = step.state.as_deref() else {
            continue;
        };
        let before = now.insert(step.flow, after);
        if shown.contains(&step.number) {
            changes.push((step, before, after));
        }
    }
    if changes.is_empty() {
        return;
    }
    html.section("Values before and after each step", |html| {
        changes
            .into_iter()
            .for_each(|(step, before, after)| change(html, step, before, after));
    });
}

fn change(html: &mut Html, step: &StepEntry, before: Option<&str>, after: &str) {
    let old = before.and_then(members);
    let new = members(after);
    html.element("details", &[("class", "callbox")], |html| {
        html.element("summary", &[], |html| {
            html.leaf("span", "n", step.position.to_string());
            if step.visit > 1 {
                html.leaf("span", "tag", format!("visit {}", step.visit));
            }
            if let (Some(old), Some(new)) = (&old, &new) {
                let names: Vec<&str> = changed(old, new).into_iter().collect();
                html.leaf("span", "num", crate::words::cut(&names.join(", "), 60));
            }
        });
        html.element("div", &[("class", "inner")], |html| match (&old, &new) {
            (Some(old), Some(new)) => {
                for name in changed(old, new) {
                    html.leaf("h3", "", name);
                    sides(html, old.get(name).map(text), new.get(name).map(text));
                }
            }
            _ => sides(html, before.map(str::to_owned), Some(after.to_owned())),
        });
    });
}

fn members(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

fn changed<'v>(old: &'v Map<String, Value>, new: &'v Map<String, Value>) -> BTreeSet<&'v str> {
    let names = old.keys().chain(new.keys());
    names
        .filter(|name| old.get(*name) != new.get(*name))
        .map(String::as_str)
        .collect()
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn sides(html: &mut Html, before: Option<String>, after: Option<String>) {
    for (who, class, value) in [("before", "msg", before), ("after", "msg answer", after)] {
        html.element("div", &[("class", class)], |html| {
            html.leaf("span", "who", who);
            html.element("div", &[], |html| match &value {
                Some(value) => reading(html, value),
                None => html.leaf("p", "more", "not there"),
            });
        });
    }
}
