//! `docs/categories.md`: with which status each provider sends an error, from the rows that the rules are tested with.

use std::collections::{BTreeMap, BTreeSet};

use llmnode::Category;
use serde_json::Value;

const ROWS: &str = include_str!("../../../crates/llmnode-http/src/http/errors.jsonl");

const COLUMNS: &[Category] = &[
    Category::ApiKeyError,
    Category::QuotaError,
    Category::RateLimitError,
    Category::ContextLengthError,
    Category::ContentFilter,
    Category::NotFound,
    Category::ServerError,
    Category::Timeout,
];

/// Gateways to many providers, and words without a provider.
const LEFT_OUT: &[&str] = &[
    "Azure gateway",
    "Bedrock's gateway",
    "FastAPI",
    "empty",
    "nginx",
    "plain text",
    "problem details",
];

type Statuses = BTreeMap<Category, BTreeSet<u64>>;

fn providers() -> BTreeMap<String, Statuses> {
    let mut providers = BTreeMap::<_, Statuses>::new();
    for line in ROWS.lines() {
        let row: Value = serde_json::from_str(line).expect("a row of JSON");
        let who = row["who"].as_str().expect("a name");
        let Some(category) = COLUMNS.iter().find(|one| row["category"] == one.as_str()) else {
            continue;
        };
        if LEFT_OUT.contains(&who) {
            continue;
        }
        let name = [" under ", " before ", ", "]
            .iter()
            .fold(who, |name, end| name.split(end).next().unwrap_or(name));
        let statuses = providers
            .entry(name.to_owned())
            .or_default()
            .entry(*category)
            .or_default();
        statuses.insert(row["status"].as_u64().expect("a status"));
    }
    providers
}

pub(crate) fn table() -> String {
    let heads = COLUMNS.iter().map(|category| format!(" `{category}` |"));
    let mut table = format!(
        "| |{}\n|{}\n",
        heads.collect::<String>(),
        "---|".repeat(COLUMNS.len() + 1)
    );
    for (name, statuses) in providers() {
        let cells = COLUMNS.iter().map(|category| {
            let listed = statuses
                .get(category)
                .into_iter()
                .flatten()
                .map(u64::to_string);
            format!(" {} |", listed.collect::<Vec<_>>().join(" ")).replace("  ", " ")
        });
        table += &format!("| {name} |{}\n", cells.collect::<String>());
    }
    table
}
