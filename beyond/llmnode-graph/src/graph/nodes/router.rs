//! `router`: takes the first route whose condition holds.

use std::collections::HashMap;
use std::sync::Arc;

use llmnode_reader::text::{bounded_regex, one_line};
use llmnode_runtime::internal::CxInternals as _;
use llmnode_runtime::{BoxError, BoxFuture, Category, NodeError};
use regex_lite::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::faults::FaultKind;
use crate::file::handle;
use crate::graph::loaded::{GraphNode, NodeContext};
use crate::graph::node_type::NodeLoader;
use crate::state::{Update, text_of};

/// The settings of a `router`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Data {
    /// The value that is looked at. Default: the text of the last message.
    source: Option<String>,
    /// The ways, of which the first that fits is taken. Nothing fits an empty text or a value that is not there.
    routes: Vec<RouteData>,
}

/// A way out of a `router`.
#[derive(Deserialize, JsonSchema)]
struct RouteData {
    /// How the text is compared.
    condition: Condition,
    /// What the text is compared with, without case.
    value: String,
    /// The handle that is taken.
    handle: String,
    /// The value that this way looks at, in place of the router's.
    source: Option<String>,
}

/// How a text is compared.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, extend("x-what" = "condition"))]
enum Condition {
    Contains,
    Equals,
    StartsWith,
    Regex,
}

pub(super) fn load(node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>> {
    let Data { source, routes } = node.data()?;
    if let Some(source) = &source {
        node.reads("/source", source);
    }
    let mut handles = vec!["default".to_owned()];
    let mut read = Vec::new();
    for (index, route) in routes.into_iter().enumerate() {
        let place = format!("/routes/{index}");
        if let Some(source) = &route.source {
            node.reads(&format!("{place}/source"), source);
        }
        let target = handle(&route.handle).to_owned();
        if !handles.contains(&target) {
            handles.push(target.clone());
        }
        if route.value.is_empty() && !node.is_seed() {
            let message = "is empty, and no text matches that: write the text to look for, or remove the route";
            node.fault(&format!("{place}/value"), message);
        }
        match regex(&route) {
            Ok(regex) => read.push(Route {
                source: route.source.or_else(|| source.clone()),
                condition: route.condition,
                lowercase: route.value.to_lowercase(),
                regex,
                handle: target,
            }),
            Err(error) => {
                let message = format!(
                    "is not a regular expression: {}",
                    one_line(error.to_string(), 200)
                );
                node.fault_of(FaultKind::Regex, &format!("{place}/value"), message);
            }
        }
    }
    let handle_names: Vec<&str> = handles.iter().map(String::as_str).collect();
    // In files of React Flow, a handle without an edge ends the flow.
    node.handles(
        &handle_names,
        if node.is_seed() { &[] } else { &handle_names },
    );
    Some(Arc::new(Router(read)))
}

/// `None` for a route without one.
fn regex(route: &RouteData) -> Result<Option<(Regex, usize)>, regex_lite::Error> {
    match route.condition {
        Condition::Regex if !route.value.is_empty() => bounded_regex(|size| {
            RegexBuilder::new(&route.value)
                .case_insensitive(true)
                .size_limit(size)
                .build()
        })
        .map(Some),
        _ => Ok(None),
    }
}

struct Router(Vec<Route>);

struct Route {
    source: Option<String>,
    condition: Condition,
    lowercase: String,
    /// With the longest text that it may search, in bytes.
    regex: Option<(Regex, usize)>,
    handle: String,
}

impl Route {
    fn fits<'l>(&self, text: &str, lowercase: impl FnOnce() -> &'l str) -> Result<bool, String> {
        if text.is_empty() || self.lowercase.is_empty() {
            return Ok(false);
        }
        Ok(match (&self.condition, &self.regex) {
            (Condition::Contains, _) => lowercase().contains(&self.lowercase),
            (Condition::Equals, _) => lowercase() == self.lowercase,
            (Condition::StartsWith, _) => lowercase().starts_with(&self.lowercase),
            (Condition::Regex, None) => false,
            (Condition::Regex, Some((regex, most))) if text.len() <= *most => regex.is_match(text),
            (Condition::Regex, Some((regex, most))) => {
                let length = text.len();
                let pattern = one_line(regex.as_str(), 80);
                return Err(format!(
                    "the text has {length} bytes, and {pattern:?} is searched in {most} at most: shorten the text or the pattern, or use \"contains\""
                ));
            }
        })
    }
}

impl GraphNode for Router {
    fn exec<'a>(&'a self, visit: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        Box::pin(async move {
            let mut lowercase: HashMap<Option<&str>, String> = HashMap::new();
            for route in &self.0 {
                visit.cx().yield_in_time().await?;
                let source = route.source.as_deref();
                let text = match source {
                    Some(source) => visit.value(source).map(text_of),
                    None => Some(visit.state().last_text().into()),
                };
                let fits = text.map(|text| {
                    let lowercase = &mut lowercase;
                    route.fits(&text, || {
                        lowercase
                            .entry(source)
                            .or_insert_with(|| text.to_lowercase())
                    })
                });
                let fits = fits.transpose().map_err(|why| {
                    NodeError::new(
                        Category::ExecError,
                        format!("the node `{}`: {why}", visit.id()),
                    )
                })?;
                if fits.unwrap_or(false) {
                    return Ok(Update::new().with_action(&*route.handle));
                }
            }
            Ok(Update::new())
        })
    }
}
