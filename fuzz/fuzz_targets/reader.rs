#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| llmnode_fuzz_reading::reader(text));
