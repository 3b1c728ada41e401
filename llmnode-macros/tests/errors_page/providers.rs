//! What providers and servers refuse, with which status, and what follows: from the rows that the rules are tested with.

use std::collections::{BTreeMap, BTreeSet};

use llmnode::{Category, Group};
use serde_json::Value;

const ROWS: &str = include_str!("../../../crates/llmnode-http/src/http/errors.jsonl");

pub(crate) const HEADING: &str = "## What providers refuse";

const HEAD: &str = "
llmnode finds the category of a provider's error by fields and texts of the response's body, in the order of \
`crates/llmnode-http/src/http/rules.rs`. The status decides only if the body says nothing. This table shows under which \
statuses each provider sends an error of a category. Some send errors with status 200, and these are found, too.
";

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
    let heads = COLUMNS.iter().map(|category| {
        let retried = if category.group() == Group::Transport {
            "retried"
        } else {
            "not retried"
        };
        format!(" `{}`, {retried} |", category.as_str())
    });
    let mut table = format!(
        "\n{HEADING}\n{HEAD}\n| |{}\n|{}\n",
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
