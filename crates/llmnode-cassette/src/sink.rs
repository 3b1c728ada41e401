//! What a model tells while it answers: listened to for the file, and told again from it.

use llmnode_runtime::{Delta, Dialect, Flag, Sink, TokenUsage};

use crate::clean::Cleaner;
use crate::entry::{Stream, Thought, Told};

/// Passes everything on, and keeps it.
pub(crate) struct Keeping<'a> {
    outer: &'a mut dyn Sink,
    told: Told,
    text: String,
    stream: Stream,
}

impl<'a> Keeping<'a> {
    pub(crate) fn new(outer: &'a mut dyn Sink) -> Self {
        Keeping { outer, told: Told::default(), text: String::new(), stream: Stream::default() }
    }

    /// What was told, and the stream, if there was one. `answer`: the text of the answer, if there was one, and as it is
    /// written.
    pub(crate) fn kept(self, answer: Option<(&str, &str)>, cleaner: &Cleaner) -> (Told, Option<Stream>) {
        let Keeping { mut told, text, mut stream, .. } = self;
        told.refused.iter_mut().for_each(|part| *part = cleaner.text(part));
        if text.is_empty() && stream.reasoning.is_empty() {
            return (told, None);
        }
        let written = match answer {
            Some((answer, written)) if answer == text => written.to_owned(),
            // A model whose pieces are not its answer: they are of no use.
            Some(_) => return (told, None),
            None => stream.text.insert(cleaner.text(&text)).clone(),
        };
        // Behind what was taken out, nobody knows where a piece ended.
        let same = text.bytes().zip(written.bytes()).take_while(|(one, other)| one == other).count();
        let whole = text == written;
        stream.boundaries.retain(|at| whole || *at <= same);
        stream.reasoning = thoughts(stream.reasoning, cleaner);
        if !whole {
            stream.reasoning.iter_mut().for_each(|thought| thought.at = thought.at.min(same));
        }
        (told, Some(stream))
    }
}

/// The pieces of reasoning as they are written. They are cleaned as one text, since a piece may hold half a secret; from the
/// first change on they are one piece.
fn thoughts(mut pieces: Vec<Thought>, cleaner: &Cleaner) -> Vec<Thought> {
    let whole: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let clean = cleaner.text(&whole);
    if clean == whole {
        return pieces;
    }
    let same = whole.bytes().zip(clean.bytes()).take_while(|(one, other)| one == other).count();
    let (mut kept, mut end) = (0, 0);
    while let Some(piece) = pieces.get(kept).filter(|piece| end + piece.text.len() <= same) {
        end += piece.text.len();
        kept += 1;
    }
    pieces.truncate(kept + 1);
    // What is left of the text belongs to the piece that changed, or to the last one, if all is gone behind it.
    let rest = clean.get(end..).unwrap_or_default();
    match pieces.get_mut(kept) {
        Some(changed) => changed.text = rest.to_owned(),
        None => pieces.last_mut().into_iter().for_each(|last| last.text.push_str(rest)),
    }
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

impl Sink for Keeping<'_> {
    fn request_id(&mut self, id: &str) {
        self.outer.request_id(id);
    }

    fn usage(&mut self, usage: TokenUsage) {
        self.outer.usage(usage);
    }

    fn dialect(&mut self, dialect: Dialect) {
        self.told.dialect = Some(dialect);
        self.outer.dialect(dialect);
    }

    fn refused(&mut self, part: &str) {
        self.told.refused.push(part.to_owned());
        self.outer.refused(part);
    }

    fn unsent(&mut self) {
        self.outer.unsent();
    }

    fn flag(&mut self, flag: Flag) {
        self.told.flags.push(flag.clone());
        self.outer.flag(flag);
    }

    fn listens(&self) -> bool {
        self.outer.listens()
    }

    fn delta(&mut self, delta: Delta<'_>) {
        match delta {
            Delta::Text(text) => {
                if !self.text.is_empty() {
                    self.stream.boundaries.push(self.text.len());
                }
                self.text.push_str(text);
            }
            Delta::Reasoning(text) => {
                let (at, text) = (self.text.len(), text.to_owned());
                self.stream.reasoning.push(Thought { at, text });
            }
            _ => {}
        }
        self.outer.delta(delta);
    }
}

/// Tells again what was told. Each piece is an event of its own.
pub(crate) async fn tell(told: &Told, stream: Option<&Stream>, text: &str, sink: &mut dyn Sink) {
    if let Some(dialect) = told.dialect {
        sink.dialect(dialect);
    }
    told.refused.iter().for_each(|part| sink.refused(part));
    told.flags.iter().for_each(|flag| sink.flag(flag.clone()));
    let Some(stream) = stream.filter(|_| sink.listens()) else { return };
    let text = stream.text.as_deref().unwrap_or(text);
    let mut thoughts = stream.reasoning.iter().peekable();
    let mut from = 0;
    for at in stream.boundaries.iter().copied().chain([text.len()]) {
        while let Some(thought) = thoughts.next_if(|thought| thought.at <= from) {
            sink.delta(Delta::Reasoning(&thought.text));
            tokio::task::yield_now().await;
        }
        // A file that was edited may have boundaries that are none.
        if let Some(piece) = text.get(from..at).filter(|piece| !piece.is_empty()) {
            sink.delta(Delta::Text(piece));
            tokio::task::yield_now().await;
            from = at;
        }
    }
    thoughts.for_each(|thought| sink.delta(Delta::Reasoning(&thought.text)));
}
