// Output types as a Rust user would declare them. Meant to be `include!`d or
// pasted into a module; needs serde (derive) and schemars 1.

use std::collections::BTreeMap;

/// 1. A support ticket, triaged. Plain struct with an enum member.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Triage {
    /// The team that has to handle the ticket.
    pub category: Category,
    /// 1 (whenever) to 5 (drop everything).
    pub priority: u8,
    /// One or two sentences.
    pub summary: String,
    /// Does a person have to answer today?
    pub is_urgent: bool,
}

/// 2. Enum of unit variants, asked for on its own.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub enum Category {
    Billing,
    Technical,
    Account,
    Shipping,
    Other,
}

/// 3. Nested structs, numbers of several widths, renamed members.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invoice {
    pub invoice_number: String,
    /// Some ERP systems call this `supplier`.
    #[serde(alias = "supplier")]
    pub vendor_name: String,
    pub currency: String,
    /// Internal order reference, can be large.
    pub order_ref: Option<u64>,
    pub lines: Vec<InvoiceLine>,
    pub total: f64,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvoiceLine {
    pub description: String,
    pub quantity: u32,
    pub unit_price: f64,
    /// Discount in percent, negative for a surcharge.
    #[serde(default)]
    pub discount: i16,
}

/// 4. A person found in a text. Used as `Person` and as `Vec<Person>`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Person {
    pub first_name: String,
    pub last_name: String,
    pub age: Option<u32>,
    pub occupation: Option<String>,
}

/// 5. A search filter: everything may be absent.
#[derive(
    Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct ProductFilter {
    pub brand: Option<String>,
    pub category: Option<String>,
    pub min_price: Option<f64>,
    pub max_price: Option<f64>,
    pub in_stock: Option<bool>,
    pub colors: Option<Vec<String>>,
}

/// 6. What the agent does next. Internally tagged.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum AgentStep {
    SearchWeb {
        query: String,
        max_results: Option<u8>,
    },
    OpenUrl {
        url: String,
    },
    RunCommand {
        command: String,
        timeout_secs: u32,
    },
    Finish {
        answer: String,
    },
}

/// 7. A flash card; the texts hold LaTeX.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct FlashCard {
    pub question: String,
    /// May contain LaTeX between dollar signs.
    pub answer: String,
    pub tags: Vec<String>,
    pub difficulty: f32,
}

/// 8. One change to one file. Texts hold paths, regular expressions and code.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct FileEdit {
    /// Path of the file to change.
    pub path: String,
    /// Regular expression, or exact text, to look for.
    pub search: String,
    pub replace: String,
    #[serde(default)]
    pub is_regex: bool,
}

/// 9. Externally tagged, adjacently tagged inside.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Approved,
    Rejected { reason: String },
    NeedsReview(Vec<Finding>),
}

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", content = "detail")]
pub enum Finding {
    Style(String),
    Bug { line: u32, message: String },
    Security { cwe: u16, message: String },
}

/// 10. Untagged: where to go.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Place {
    Coordinates {
        lat: f64,
        lon: f64,
    },
    Address {
        street: String,
        city: String,
        zip: Option<String>,
    },
    Named(String),
}

/// 11. Options of a summary; everything has a default.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct SummaryOptions {
    pub language: String,
    pub max_words: u16,
    pub tone: Tone,
    pub bullet_points: bool,
    pub keywords: Vec<String>,
}

impl Default for SummaryOptions {
    fn default() -> Self {
        SummaryOptions {
            language: "en".to_string(),
            max_words: 150,
            tone: Tone::Neutral,
            bullet_points: false,
            keywords: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    Neutral,
    Friendly,
    VeryFormal,
}

/// 12. Sentiment with a score and the quote it rests on.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Sentiment {
    pub label: Polarity,
    /// From -1.0 to 1.0.
    pub score: f64,
    pub quote: Option<String>,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Polarity {
    Positive,
    Neutral,
    Negative,
    Mixed,
}

/// 13. Numbers of several widths, each with its unit fixed by its name.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Shipment {
    pub tracking_id: String,
    /// Weight in kilograms.
    pub weight_kg: f64,
    pub parcels: u16,
    /// Signed offset from UTC in minutes.
    pub utc_offset_min: i16,
    /// Account number at the carrier.
    pub carrier_account: u64,
    pub insured: bool,
}

/// 14. A snippet of code with notes. Also used: `Option<Snippet>`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Snippet {
    pub language: String,
    pub code: String,
    pub notes: Vec<String>,
}

/// 15. Ratings by criterion, the map on its own.
pub type Scores = BTreeMap<String, f64>;

// Further expressions used by the rows: `Vec<Person>`, `Vec<String>`,
// `BTreeMap<String, f64>`, `Option<Snippet>`, `f64`, `bool`.
