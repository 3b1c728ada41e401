//! `check`: every fault of a file, one a line; and `schema`.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{ErrorKind, Write, stdout};
use std::path::{Path, PathBuf};

use llmnode_graph::{Graph, GraphFaults, Profiles, Registered};
use llmnode_rag::StoreExt;
use llmnode_runtime::ScriptedModel;
use serde_json::{Value, json};

use crate::args::Options;
use crate::placeholders::{self, AnyType, Named};
use crate::{hints, node_types, stores};

pub(crate) fn check(options: &Options) -> Result<bool, Box<dyn Error>> {
    let text = read(&options.file)?;
    let named = placeholders::named(serde_json::from_str(&text).unwrap_or(Value::Null), &folder(options));
    let hint = hints::programs(&named, options);
    let (faults, warnings) = match Graph::parse(&text, &registry(named, options)?) {
        Ok(graph) => (Vec::new(), graph.warnings().to_vec()),
        Err(GraphFaults { faults, warnings, .. }) => (faults, warnings),
    };
    if options.json {
        let file = options.file.display().to_string();
        let told = json!({"file": file, "faults": faults, "warnings": warnings});
        print(&serde_json::to_string_pretty(&told)?)?;
    } else {
        let faults = faults.iter().map(ToString::to_string);
        let mut lines = faults.chain(warnings.iter().map(|warning| format!("warning: {warning}")));
        lines.try_for_each(|line| print(&line))?;
    }
    if !faults.is_empty() {
        hint.iter().for_each(|hint| eprintln!("{hint}"));
    }
    Ok(faults.is_empty())
}

pub(crate) fn schema() -> Result<bool, Box<dyn Error>> {
    let schema = node_types::registry(&Options::default()).build()?.schema();
    print(&serde_json::to_string_pretty(&schema)?)?;
    Ok(true)
}

/// A reader such as `head` may close the pipe early.
pub(crate) fn print(line: &str) -> Result<(), Box<dyn Error>> {
    match writeln!(stdout(), "{line}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

pub(crate) fn read(file: &Path) -> Result<String, Box<dyn Error>> {
    std::fs::read_to_string(file)
        .map_err(|error| format!("{} cannot be read: {error}", file.display()).into())
}

#[cfg(feature = "serve")]
pub(crate) fn registry_for(text: &str, options: &Options) -> Result<Registered, Box<dyn Error>> {
    let file = serde_json::from_str(text).unwrap_or(Value::Null);
    registry(placeholders::named(file, &folder(options)), options)
}

/// Stands in for the graph's program: tools and models are never called.
fn registry(named: Named, options: &Options) -> Result<Registered, Box<dyn Error>> {
    let stores = stores::placeholders(&named, &options.stores);
    let tools = options.tools.clone().map_or(named.tools, BTreeSet::from_iter);
    let profiles = match &options.profiles {
        Some(file) => Profiles::rules().names(&read(file)?)?.into_iter().collect(),
        None => named.profiles,
    };
    let mut registry = node_types::registry(options).tools(placeholders::tools(tools));
    for (name, store) in stores {
        registry = registry.store_of_words(name, store);
    }
    for name in profiles {
        registry = registry.model(name, ScriptedModel::new());
    }
    // Our names are known anyway, and two types of one name are a mistake.
    for name in options.types.iter().filter(|name| !node_types::SHIPPED.contains(&name.as_str())) {
        registry = registry.node_type(AnyType(name.clone()));
    }
    Ok(registry.folder(folder(options)).build()?)
}

pub(crate) fn folder(options: &Options) -> PathBuf {
    let folder = options.folder.clone().or_else(|| options.file.parent().map(Path::to_path_buf));
    folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| ".".into())
}
