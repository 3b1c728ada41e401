//! An order as it is sent: its lines, with what its API has around them.
//!
//! It may have 200 MB, so it is written piece by piece as it is sent, out of the lines, which the order keeps: they are in memory
//! once, and can be sent again.

use std::sync::Arc;

use bytes::Bytes;
use llmnode_model::batch::{BatchOrder, OrderLine};

use crate::http::body::{Content, Pieces};

/// A piece has about so many bytes, and the rest of its last line.
const PIECE: usize = 64 * 1024;

/// What stands around the lines.
pub(crate) struct Frame {
    pub(crate) begin: String,
    pub(crate) before_id: &'static str,
    /// Between the id of a line and its body.
    pub(crate) before_body: String,
    pub(crate) behind_body: &'static str,
    pub(crate) between_lines: &'static str,
    pub(crate) end: String,
}

impl Frame {
    /// The body of a request that has all lines of an order.
    pub(crate) fn around(self, order: &BatchOrder) -> Content {
        let lines = Arc::clone(&order.lines);
        let of_line = self.before_id.len() + self.before_body.len() + self.behind_body.len();
        let mut left = self.begin.len() + self.end.len();
        left += self.between_lines.len() * lines.len().saturating_sub(1);
        for line in lines.iter() {
            left += of_line + line.id.len() + line.body.len();
        }
        Content::Pieces(Box::new(OrderPieces {
            frame: self,
            lines,
            at: 0,
            left: left as u64,
        }))
    }
}

struct OrderPieces {
    frame: Frame,
    lines: Arc<Vec<OrderLine>>,
    /// The line that is next.
    at: usize,
    left: u64,
}

impl Pieces for OrderPieces {
    fn next_piece(&mut self) -> Option<Bytes> {
        if self.left == 0 {
            return None;
        }
        let frame = &self.frame;
        let mut piece = Vec::with_capacity(PIECE);
        if self.at == 0 {
            piece.extend_from_slice(frame.begin.as_bytes());
        }
        while piece.len() < PIECE
            && let Some(line) = self.lines.get(self.at)
        {
            if self.at > 0 {
                piece.extend_from_slice(frame.between_lines.as_bytes());
            }
            for part in [frame.before_id, &line.id, &frame.before_body] {
                piece.extend_from_slice(part.as_bytes());
            }
            piece.extend_from_slice(&line.body);
            piece.extend_from_slice(frame.behind_body.as_bytes());
            self.at += 1;
        }
        if self.at == self.lines.len() {
            piece.extend_from_slice(frame.end.as_bytes());
        }
        self.left = self.left.saturating_sub(piece.len() as u64);
        Some(piece.into())
    }

    fn left(&self) -> u64 {
        self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(lines: usize) -> String {
        let line = |number: usize| OrderLine {
            id: format!("id-{number}").into(),
            body: vec![b'x'; 1_000],
        };
        let order = BatchOrder {
            name: "a".to_owned(),
            api: "chat",
            model: "m".to_owned(),
            lines: Arc::new((0..lines).map(line).collect()),
            expires_after: 60,
        };
        let frame = Frame {
            begin: "[".to_owned(),
            before_id: "<",
            before_body: ">".to_owned(),
            behind_body: ";",
            between_lines: ",",
            end: "]".to_owned(),
        };
        let Content::Pieces(mut pieces) = frame.around(&order) else {
            return String::new();
        };
        let length = pieces.left();
        let mut whole = Vec::new();
        while let Some(piece) = pieces.next_piece() {
            assert!(!piece.is_empty() && piece.len() < PIECE + 2_000);
            whole.extend_from_slice(&piece);
            assert_eq!(pieces.left(), length - whole.len() as u64);
        }
        assert_eq!(whole.len() as u64, length);
        String::from_utf8(whole).unwrap_or_default()
    }

    #[test]
    fn an_order_is_sent_in_pieces_that_make_the_whole() {
        let body = "x".repeat(1_000);
        assert_eq!(sent(0), "[]");
        assert_eq!(sent(2), format!("[<id-0>{body};,<id-1>{body};]"));
        let many = sent(500);
        assert!(many.ends_with(&format!(",<id-499>{body};]")));
        assert_eq!(many.matches("id-").count(), 500);
    }
}
