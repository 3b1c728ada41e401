//! Compares the public signatures of crates, as rustdoc's JSON has them, with the lists in a folder.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, files @ ..] = &arguments[..] else {
        return Err("signatures FOLDER JSON..".into());
    };
    let update = std::env::var_os("LLMNODE_UPDATE").is_some();
    let mut differ = Vec::new();
    for file in files {
        let api = public_api::Builder::from_rustdoc_json(file)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()?;
        let mut text = String::new();
        for item in api.items() {
            writeln!(text, "{item}")?;
        }
        let name = Path::new(file)
            .file_stem()
            .and_then(|name| name.to_str())
            .ok_or("no name")?;
        let list = Path::new(folder).join(name).with_extension("txt");
        if update {
            std::fs::write(&list, text)?;
        } else if std::fs::read_to_string(&list).unwrap_or_default() != text {
            differ.push(list.display().to_string());
            std::fs::write(list.with_extension("new"), text)?;
        }
    }
    if differ.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!(
        "public signatures differ from {}; see the `.new` file beside it, or bless them with LLMNODE_UPDATE=1",
        differ.join(", ")
    );
    Ok(ExitCode::FAILURE)
}
