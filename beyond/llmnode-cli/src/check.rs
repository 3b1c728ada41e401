//! `check`: every fault of a file, one a line; and `schema`.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use llmnode_graph::{CheckedRegistry, Graph, GraphFaults, Profiles};
use llmnode_rag::StoreExt;
use llmnode_runtime::ScriptedModel;
use serde_json::{Value, json};

use crate::args::Options;
use crate::placeholders::{self, AnyType, Named};
use crate::terminal::{print, print_line};
use crate::{hints, node_types, stores};

pub(crate) fn check(options: &Options) -> Result<bool, Box<dyn Error>> {
    let text = read(&options.file)?;
    let named = placeholders::named(
        serde_json::from_str(&text).unwrap_or(Value::Null),
        &folder(options),
    );
    let hint = hints::programs(&named, options);
    let (faults, warnings) = match Graph::parse(&text, &registry(named, options)?) {
        Ok(graph) => (Vec::new(), graph.warnings().to_vec()),
        Err(GraphFaults {
            faults, warnings, ..
        }) => (faults, warnings),
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
        hint.iter().for_each(|hint| print_line(hint));
    }
    Ok(faults.is_empty())
}

pub(crate) fn schema() -> Result<bool, Box<dyn Error>> {
    let schema = node_types::registry(&Options::default()).build()?.schema();
    print(&serde_json::to_string_pretty(&schema)?)?;
    Ok(true)
}

/// A graph is smaller.
const BYTES: u64 = 1 << 24;
/// For a file that another program writes, such as a pipe.
const WAIT: Duration = Duration::from_secs(10);

pub(crate) fn read(file: &Path) -> Result<String, Box<dyn Error>> {
    read_at_most(file, BYTES)
}

/// Of a device or a pipe, too, which may have no end.
pub(crate) fn read_at_most(file: &Path, bytes: u64) -> Result<String, Box<dyn Error>> {
    let is_regular = std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
    let read = if is_regular {
        begin_of(file, bytes)
    } else {
        let (sender, receiver) = mpsc::channel();
        let path = file.to_path_buf();
        std::thread::spawn(move || sender.send(begin_of(&path, bytes)));
        receiver
            .recv_timeout(WAIT)
            .unwrap_or_else(|_| Err(io::Error::other("nothing is written to it")))
    };
    let read = read.map_err(|error| unreadable(file, error.to_string()))?;
    if read.len() as u64 > bytes {
        return Err(unreadable(file, format!("it has more than {bytes} bytes")).into());
    }
    String::from_utf8(read)
        .map_err(|_| unreadable(file, "it is no text in UTF-8".to_owned()).into())
}

fn begin_of(file: &Path, bytes: u64) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    File::open(file)?.take(bytes + 1).read_to_end(&mut read)?;
    Ok(read)
}

#[cfg(feature = "serve")]
pub(crate) fn registry_for(
    text: &str,
    options: &Options,
) -> Result<CheckedRegistry, Box<dyn Error>> {
    let file = serde_json::from_str(text).unwrap_or(Value::Null);
    registry(placeholders::named(file, &folder(options)), options)
}

/// Stands in for the graph's program: tools and models are never called.
fn registry(named: Named, options: &Options) -> Result<CheckedRegistry, Box<dyn Error>> {
    let stores = stores::placeholders(&named, &options.stores);
    let tools = options
        .tools
        .clone()
        .map_or(named.tools, BTreeSet::from_iter);
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
    for name in options
        .types
        .iter()
        .filter(|name| !node_types::SHIPPED.contains(&name.as_str()))
    {
        registry = registry.node_type(AnyType(name.clone()));
    }
    Ok(registry.folder(folder(options)).build()?)
}

pub(crate) fn folder(options: &Options) -> PathBuf {
    let folder = options
        .folder
        .clone()
        .or_else(|| options.file.parent().map(Path::to_path_buf));
    folder
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| ".".into())
}

fn unreadable(file: &Path, error: String) -> String {
    format!("{} cannot be read: {error}", file.display())
}
