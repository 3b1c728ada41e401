//! The repairers of others, each with its own defaults.

use serde_json::Value;

pub const PEERS: [Peer; 2] = [
    Peer {
        name: "jsonrepair 0.1",
        read: |text| jsonrepair::loads(text, &Default::default()).ok(),
    },
    Peer {
        name: "llm_json 1.0",
        read: |text| llm_json::loads(text, &Default::default()).ok(),
    },
];

#[derive(Clone, Copy)]
pub struct Peer {
    pub name: &'static str,
    /// Text to value.
    pub read: fn(&str) -> Option<Value>,
}
