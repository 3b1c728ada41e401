//! The reader of prompts on any text.

use super::Held;
use crate::prompt::locate::{excerpt, position};
use crate::prompt::template::{Piece, Segment, Template, parse};

/// Reads `source` and checks what it was read to.
pub(crate) fn holds(source: &str) -> Held {
    let template = parse(source);
    segments(source, &template)?;
    faults(source, &template)?;
    if template.faults.is_empty() {
        template
            .segments
            .iter()
            .try_for_each(|it| alone(source, it))
    } else {
        Ok(())
    }
}

/// Segments are ordered and disjoint; without faults, they cover the source.
fn segments(source: &str, template: &Template) -> Held {
    let mut end = 0;
    for segment in &template.segments {
        let range = &segment.range;
        if source.get(range.clone()).is_none_or(str::is_empty) || range.start < end {
            return Err(format!("{segment:?} behind byte {end}"));
        }
        if template.faults.is_empty() && range.start != end {
            return Err(format!("nothing stands for {end}..{}", range.start));
        }
        end = range.end;
    }
    if template.faults.is_empty() && end != source.len() {
        return Err(format!("nothing stands for {end}.."));
    }
    let is_text = |segment: &Segment| matches!(segment.kind, Piece::Text(_));
    match template
        .segments
        .windows(2)
        .find(|pair| pair.iter().all(is_text))
    {
        Some(pair) if template.faults.is_empty() => {
            Err(format!("one text in two segments: {pair:?}"))
        }
        _ => Ok(()),
    }
}

/// Faults are ordered and inside the source. Each has a message of one line, a place, and an excerpt with a mark below.
fn faults(source: &str, template: &Template) -> Held {
    let mut start = 0;
    for fault in &template.faults {
        let range = &fault.range;
        let inside = source
            .get(range.clone())
            .is_some_and(|text| !text.is_empty());
        if !inside || range.start < start {
            return Err(format!("{fault:?} before byte {start}"));
        }
        start = range.end;
        let lines = excerpt(source, range).split('\n').count();
        let message = fault.kind.to_string();
        if lines != 3
            || position(source, range.start).column == 0
            || message.is_empty()
            || message.contains('\n')
        {
            return Err(format!("{fault:?}: {message:?} and {lines} lines"));
        }
    }
    Ok(())
}

/// What a segment was read to depends on nothing around it.
fn alone(source: &str, segment: &Segment) -> Held {
    let source = &source[segment.range.clone()];
    let Template { segments, faults } = parse(source);
    match &segments[..] {
        [one]
            if faults.is_empty() && one.kind == segment.kind && one.range == (0..source.len()) =>
        {
            Ok(())
        }
        _ => Err(format!(
            "{:?} alone is {segments:?}, {faults:?}",
            segment.kind
        )),
    }
}
