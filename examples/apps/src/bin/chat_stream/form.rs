//! The form: the members of the answer so far, and what the call has cost.

use llmnode::{CallRecord, Category};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph, Wrap};
use serde_json::Value;

/// What is on the screen.
pub struct Form {
    wish: String,
    answer: Value,
    attempts: u32,
    /// Characters of the answer under way.
    characters: usize,
    note: String,
}

impl Form {
    pub fn new(wish: &str) -> Self {
        Form {
            wish: wish.to_owned(),
            answer: Value::Null,
            attempts: 1,
            characters: 0,
            note: "waiting".to_owned(),
        }
    }

    pub fn grow(&mut self, text: &str, answer: Option<&Value>) {
        self.characters += text.chars().count();
        self.note = "writing".to_owned();
        if let Some(answer) = answer {
            self.answer = answer.clone();
        }
    }

    pub fn restart(&mut self, category: Category) {
        self.answer = Value::Null;
        self.attempts += 1;
        self.characters = 0;
        self.note = format!("{}: once more", category.as_str());
    }

    pub fn end(&mut self, record: &CallRecord) {
        let usage = record.usage();
        let tokens = usage
            .total
            .total()
            .map_or("?".to_owned(), |tokens| tokens.to_string());
        let cost = usage
            .cost
            .total()
            .map_or("?".to_owned(), |cost| format!("{cost:.6}"));
        self.note = format!("done: {tokens} tokens, ${cost}");
    }

    pub fn draw(&self, frame: &mut Frame<'_>) {
        let rows = [
            Constraint::Length(3),
            Constraint::Min(4),
            Constraint::Min(4),
            Constraint::Length(1),
        ];
        let [head, ingredients, steps, foot] = Layout::vertical(rows).areas(frame.area());
        let minutes = self.answer["minutes"]
            .as_u64()
            .map_or(String::new(), |minutes| format!(", {minutes} minutes"));
        let name = format!("{}{minutes}", self.answer["name"].as_str().unwrap_or("…"));
        frame.render_widget(
            Paragraph::new(name.bold()).block(Block::bordered().title(self.wish.as_str())),
            head,
        );
        frame.render_widget(self.list("ingredients"), ingredients);
        frame.render_widget(self.list("steps"), steps);
        let foot_text = format!(
            "attempt {}, {} characters, {}  (q cancels)",
            self.attempts, self.characters, self.note
        );
        frame.render_widget(Paragraph::new(foot_text).style(Style::new().dim()), foot);
    }

    fn list(&self, member: &'static str) -> Paragraph<'_> {
        let items = self.answer[member]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate();
        let lines = items.map(|(at, item)| {
            Line::from(format!("{}. {}", at + 1, item.as_str().unwrap_or_default()))
        });
        Paragraph::new(lines.collect::<Vec<_>>())
            .wrap(Wrap { trim: true })
            .block(Block::bordered().title(member))
    }
}
