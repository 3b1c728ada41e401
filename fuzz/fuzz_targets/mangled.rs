#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| llmnode_fuzz_reading::mangled(bytes));
