//! Nested data out of a real document, checked against itself: what the lines add up to must be the total.
//!
//! ```text
//! cargo run --example extract                              # an invoice of its own
//! cargo run --example extract -- examples/data/invoice.txt # one from a file
//! ```

use llmnode::StubServer;
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};

mod common;

#[llm_output]
struct Invoice {
    number: String,
    /// ISO 8601, such as 2026-01-31.
    date: String,
    customer: Customer,
    lines: Vec<Line>,
    /// Value added tax in cents.
    tax_cents: i64,
    /// What is to be paid, in cents.
    total_cents: i64,
    paid: bool,
}

#[llm_output]
struct Customer {
    name: String,
    address: Option<String>,
}

#[llm_output]
struct Line {
    quantity: i64,
    description: String,
    /// The price of one, in cents.
    unit_cents: i64,
}

#[validate]
impl Line {
    fn quantity_is_positive(&self) -> Result<(), Invalid> {
        if self.quantity > 0 {
            Ok(())
        } else {
            Err(Invalid::at("quantity", "must be 1 or more"))
        }
    }
}

#[validate]
impl Invoice {
    fn has_lines(&self) -> Result<(), Invalid> {
        if self.lines.is_empty() {
            Err(Invalid::at("lines", "an invoice has at least one line"))
        } else {
            Ok(())
        }
    }

    fn lines_add_up(&self) -> Result<(), Invalid> {
        let lines = self
            .lines
            .iter()
            .map(|line| line.quantity.saturating_mul(line.unit_cents));
        let sum = lines.fold(self.tax_cents, i64::saturating_add);
        if sum == self.total_cents {
            return Ok(());
        }
        let said = self.total_cents;
        Err(Invalid::at(
            "total_cents",
            format!("is {said}, but lines and tax add up to {sum}; read them again"),
        ))
    }
}

/// Reads an invoice.
#[llm_node(
    system = "You copy figures from documents exactly as they are printed.",
    prompt = "Read this invoice. Amounts are in cents.\n\n{document}",
    output = Invoice,
    retries = 2
)]
struct ReadInvoice {
    document: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = common::Arguments::read("[FILE]");
    let path = arguments.value(0).unwrap_or(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/data/invoice.txt"
    ));
    let document = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let (model, _server) = common::model(stub()).await?;
    let run = Run::new(model);
    let report = run.call(&ReadInvoice { document }).report().await?;

    let Invoice {
        number,
        date,
        customer,
        lines,
        total_cents,
        paid,
        ..
    } = &report.value;
    let address = customer.address.as_deref().unwrap_or("no address");
    println!(
        "{number} of {date} to {} ({address}), {}",
        customer.name,
        if *paid { "paid" } else { "open" }
    );
    for Line {
        quantity,
        description,
        unit_cents,
    } in lines
    {
        println!("{quantity:>4} x {description} at {}", euros(*unit_cents));
    }
    println!("total {}", euros(*total_cents));
    println!("read in {} requests", report.record.attempts.len());
    Ok(())
}

fn euros(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, (cents % 100).abs())
}

/// A server that reads the lines of the invoice by itself, and forgets the tax at first.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let corrected = messages
            .iter()
            .any(|(_, content)| content.contains("add up to"));
        let document = messages
            .iter()
            .find(|(role, _)| role == "user")
            .map_or("", |(_, content)| content);
        StubReply::json(read_by_rule(document, corrected))
    }))
}

/// What a model is for, done by hand for one layout only: `  12   Item   EUR 31.50   EUR 378.00`.
fn read_by_rule(document: &str, with_tax: bool) -> serde_json::Value {
    let cents = |text: &str| text.trim().replace('.', "").parse::<i64>().unwrap_or(0);
    let after = |label: &str| {
        let rest = document.split(label).nth(1).unwrap_or_default();
        rest.lines()
            .next()
            .unwrap_or_default()
            .trim_start()
            .split("  ")
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let amount = |label: &str| {
        document
            .lines()
            .find(|line| line.trim().starts_with(label))
            .map_or(0, |line| {
                cents(line.rsplit("EUR").next().unwrap_or_default())
            })
    };
    let lines: Vec<_> = document
        .lines()
        .filter_map(|line| {
            let (quantity, rest) = line.trim().split_once(' ')?;
            let mut parts = rest.split("EUR");
            let item = serde_json::json!({
                "quantity": quantity.parse::<i64>().ok()?,
                "description": parts.next()?.trim(),
                "unit_cents": cents(parts.next()?),
            });
            Some(item)
        })
        .collect();
    let (name, address) = after("Bill to:")
        .split_once(", ")
        .map(|(name, address)| (name.to_owned(), address.to_owned()))
        .unwrap_or_default();
    serde_json::json!({
        "number": after("No. "), "date": after("Date: "),
        "customer": {"name": name, "address": address},
        "lines": lines,
        "tax_cents": if with_tax { amount("VAT (") } else { 0 },
        "total_cents": amount("TOTAL"), "paid": false,
    })
}
