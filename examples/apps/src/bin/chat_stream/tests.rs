use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

use super::*;

fn screen(form: &Form) -> String {
    let mut terminal = Terminal::new(TestBackend::new(60, 14)).unwrap();
    terminal.draw(|frame| form.draw(frame)).unwrap();
    terminal.backend().to_string()
}

#[test]
fn the_form_shows_what_is_there() {
    let mut form = Form::new("Soup");
    form.grow(
        "{..",
        Some(&json!({"name": "Tara", "steps": ["Grate the cuc"]})),
    );
    let shown = screen(&form);
    assert!(
        shown.contains("Tara") && shown.contains("1. Grate the cuc"),
        "{shown}"
    );
    form.restart(Category::ValidationError);
    let shown = screen(&form);
    assert!(
        !shown.contains("Tara") && shown.contains("attempt 2") && shown.contains("once more"),
        "{shown}"
    );
}

#[tokio::test]
async fn the_second_answer_is_taken() {
    let server = stub().start().await.unwrap();
    let run = Run::new(
        OpenAi::builder()
            .base_url(server.base_url())
            .model("m")
            .build()
            .unwrap(),
    );
    let node = Cook {
        wish: "Soup".to_owned(),
    };
    let report = run.call(&node).stream().report().await.unwrap();
    assert_eq!(
        (report.value.steps.len(), report.record.attempts.len()),
        (3, 2)
    );
}
