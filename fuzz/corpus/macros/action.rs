#[derive(Action)]
enum Decision {
    Search(String, u8),
    #[action(name = "done")]
    Answer,
    Retry { wait: Duration, r#type: u8 },
}
