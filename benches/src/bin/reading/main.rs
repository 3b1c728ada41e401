//! How fast answers are read, beside serde_json and beside the repairers of others, and what hostile texts cost.
//!
//! ```text
//! cargo run --release --manifest-path benches/Cargo.toml --bin reading            # all of it
//! cargo run --release --manifest-path benches/Cargo.toml --bin reading -- 3       # three rounds
//! cargo run --release --manifest-path benches/Cargo.toml --bin reading -- 12 hostile        # one table
//! cargo run --release --manifest-path benches/Cargo.toml --bin reading -- 12 hostile '[{'   # one family
//! ```
//!
//! Prints tables in Markdown. The figures are the least processor time of all rounds, each of which goes through the
//! whole table, for two seconds at least; a text whose value is not the one it was made from has no speed.

mod answers;
mod clock;
mod hostile;
mod peers;
mod texts;

const ROUNDS: usize = 12;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [peer, name, family] = &arguments[..]
        && peer == "peer"
    {
        return hostile::peer(name, family);
    }
    let rounds = arguments.first().map_or(ROUNDS, |rounds| {
        rounds.parse().expect("the number of rounds")
    });
    let wants = |part: &str| arguments.get(1).is_none_or(|wanted| wanted == part);
    if wants("clean") {
        answers::beside_serde(rounds);
    }
    if wants("repair") {
        answers::beside_repairers(rounds);
    }
    if wants("hostile") {
        hostile::table(rounds, arguments.get(2).map(String::as_str));
    }
}
