use schemars::JsonSchema;
use serde::Deserialize;

use super::*;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Item {
    name: String,
    #[serde(default)]
    count: i32,
}

fn item(text: &str) -> Result<Read<Item>, Vec<Problem>> {
    read(text, &OutputSchema::of::<Item>())
}

#[test]
fn clean_json_is_read_whole() {
    let read = item("\u{feff} {\"name\": \"a\", \"count\": 2}\n").unwrap();
    assert_eq!(read.value, Item { name: "a".into(), count: 2 });
    assert_eq!((read.source, read.unwrapped), (Source::Whole, false));
}
