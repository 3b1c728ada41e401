//! What a graph needs and the command was not given: how to give it.

use crate::args::Options;
use crate::location::Location;
use crate::placeholders::Named;
use crate::stores;

pub(crate) fn all(named: &Named, options: &Options) -> Vec<String> {
    let hints = [
        tools(named),
        profiles(named, options),
        missing_stores(named, options),
        programs(named, options),
    ];
    hints
        .into_iter()
        .flatten()
        .chain(locations(named, options))
        .collect()
}

pub(crate) fn programs(named: &Named, options: &Options) -> Option<String> {
    let is_missing = named.has_programs && options.programs.is_none();
    is_missing.then(|| {
        "The graph uses programs of smart nodes: pass their folder as `--programs FOLDER`."
            .to_owned()
    })
}

/// A possible cause of a run's `config_error`.
pub(crate) fn embeddings(options: &Options) -> Option<String> {
    let is_missing = !options.stores.is_empty() && !stores::has_embeddings();
    is_missing.then(|| {
        format!(
            "The stores were opened without embeddings. If a collection has some, set {} to their model.",
            stores::MODEL
        )
    })
}

fn tools(named: &Named) -> Option<String> {
    let tools = Vec::from_iter(named.tools.iter().cloned()).join(", ");
    (!tools.is_empty()).then(|| {
        format!(
            "The command has no tools of its own, and this graph needs {tools}: start the MCP server that has them with `--mcp`, or \
             run it from a program that registers them with `Registry::tools`."
        )
    })
}

fn profiles(named: &Named, options: &Options) -> Option<String> {
    let listed = named
        .profiles
        .iter()
        .map(|name| format!("{name:?}"))
        .collect::<Vec<_>>()
        .join(", ");
    let is_missing = !listed.is_empty() && options.profiles.is_none();
    is_missing.then(|| {
        format!("The graph names profiles: pass the file that has {listed} as `--profiles FILE`.")
    })
}

fn missing_stores(named: &Named, options: &Options) -> Option<String> {
    let missing = named
        .stores
        .iter()
        .filter(|name| !options.stores.contains_key(*name));
    let missing = missing
        .map(|name| format!("{name:?}"))
        .collect::<Vec<_>>()
        .join(", ");
    (!missing.is_empty()).then(|| {
        format!("Stores are missing: pass the SQLite file of {missing} as `--store NAME=FILE`.")
    })
}

fn locations(named: &Named, options: &Options) -> Vec<String> {
    let missing = named.locations.iter().filter(|location| {
        let mut passed = options.stores.values().flatten();
        !passed.any(|file| location.is(file))
    });
    missing.map(|location: &Location| match location {
        Location::File(path) => {
            let file = format!("{path}.db");
            format!(
                "The graph uses a store at {path:?}: pass its SQLite file {file:?} as `--store NAME=FILE`."
            )
        }
        Location::Server(url) => format!(
            "The graph uses the server of Chroma at {url:?}, which the command does not: run it from a program that registers a \
             `ChromaStore`."
        ),
    }).collect()
}
