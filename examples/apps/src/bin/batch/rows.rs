//! The rows of both files.

use std::error::Error;
use std::fs::File;
use std::io::{Write, stdout};
use std::path::Path;

use llmnode::{CallReport, NodeError};
use serde::{Deserialize, Serialize};

use crate::rate::{Mood, Rating};

#[derive(Deserialize)]
pub struct Review {
    pub id: String,
    pub text: String,
}

/// One for each review, also where there is no rating.
#[derive(Serialize)]
pub struct Row<'r> {
    id: &'r str,
    mood: Option<Mood>,
    stars: Option<u8>,
    /// Empty where it is not known.
    cost: Option<f64>,
    requests: u64,
    error: Option<&'static str>,
}

impl<'r> Row<'r> {
    pub fn rated(review: &'r Review, report: CallReport<Rating>) -> Self {
        let mut usage = report.total;
        usage += report.replayed();
        let Rating { mood, stars } = report.value;
        let (cost, requests) = (usage.cost.total(), usage.requests);
        Row {
            id: &review.id,
            mood: Some(mood),
            stars: Some(stars),
            cost,
            requests,
            error: None,
        }
    }

    pub fn failed(review: &'r Review, error: &NodeError) -> Self {
        let usage = error.usage();
        let (cost, requests) = (usage.cost.total(), usage.requests);
        Row {
            id: &review.id,
            mood: None,
            stars: None,
            cost,
            requests,
            error: Some(error.category().as_str()),
        }
    }

    /// Of a review that was not asked for any more.
    pub fn stopped(review: &'r Review) -> Self {
        Row {
            id: &review.id,
            mood: None,
            stars: None,
            cost: Some(0.0),
            requests: 0,
            error: Some("stopped"),
        }
    }
}

pub fn read(path: &Path) -> Result<Vec<Review>, Box<dyn Error>> {
    let fault = |error: csv::Error| format!("{}: {error}", path.display());
    Ok(csv::Reader::from_path(path)
        .map_err(fault)?
        .deserialize()
        .collect::<Result<_, _>>()
        .map_err(fault)?)
}

pub fn writer(path: Option<&Path>) -> Result<csv::Writer<Box<dyn Write>>, Box<dyn Error>> {
    let to: Box<dyn Write> = match path {
        None => Box::new(stdout()),
        Some(path) => {
            Box::new(File::create(path).map_err(|error| format!("{}: {error}", path.display()))?)
        }
    };
    Ok(csv::Writer::from_writer(to))
}
