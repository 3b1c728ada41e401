//! The six tasks with rig and genai, as their docs do them: `comparison-peers LIBRARY TASK URL FOLDER WORD..`. The last line says how it
//! ended, as JSON.

mod by_genai;
mod by_rig;

#[tokio::main]
async fn main() {
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [library, task, url, folder, words @ ..] = words.as_slice() else {
        panic!("comparison-peers LIBRARY TASK URL FOLDER WORD..");
    };
    let said = match library.as_str() {
        "rig" => by_rig::run(task, url, folder, words).await,
        "genai" => by_genai::run(task, url, folder, words).await,
        _ => panic!("no library {library}"),
    };
    println!("{said}");
}
