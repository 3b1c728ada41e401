//! What a server does with a connection.

/// The kinds of connection that rows name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    Normal,
    /// The client must not get as far as a connection.
    NeverSent,
    Refused,
    /// The name of the host cannot be resolved.
    UnknownName,
    /// No answer to the first packet.
    BlackHole,
    /// A certificate that no authority of the client's knows.
    SelfSigned,
    /// Reset within the handshake of TLS.
    TlsReset,
    /// HTTP/2's way to say that the server goes away.
    GoAway,
    /// HTTP/2's way to refuse one request.
    RefusedStream,
    /// Accepted, and no answer ever.
    Silent,
    /// A byte every tenth of a second.
    Slow,
    /// The head, and no body ever.
    HeadThenSilent,
    HalfThenSilent,
    HalfThenReset,
    /// Reset once the request has been read.
    Reset,
    /// Closed once the request has been read.
    HangUp,
    /// Bytes that are no HTTP.
    Garbage,
    ManyHeaders,
    /// Chunks without the one that ends them.
    NoLastChunk,
    /// Half of the body, then closed.
    HalfThenClosed,
}

/// Names by the words in them, the first match wins: those who write rows spell them as they like.
const NAMES: &[(&[&str], Connection)] = &[
    (&["normal"], Connection::Normal),
    (&["before_content_length"], Connection::Normal),
    (&["never", "sent"], Connection::NeverSent),
    (&["refuse", "stream"], Connection::RefusedStream),
    (&["refuse"], Connection::Refused),
    (&["dns"], Connection::UnknownName),
    (&["nxdomain"], Connection::UnknownName),
    (&["blackhole"], Connection::BlackHole),
    (&["syn"], Connection::BlackHole),
    (&["goaway"], Connection::GoAway),
    (&["tls", "reset"], Connection::TlsReset),
    (&["tls"], Connection::SelfSigned),
    (&["self_signed"], Connection::SelfSigned),
    (&["final_chunk"], Connection::NoLastChunk),
    (&["last_chunk"], Connection::NoLastChunk),
    (&["garbage"], Connection::Garbage),
    (&["not_http"], Connection::Garbage),
    (&["byte"], Connection::Slow),
    (&["half", "silent"], Connection::HalfThenSilent),
    (&["half", "stall"], Connection::HalfThenSilent),
    (&["half", "reset"], Connection::HalfThenReset),
    (&["mid", "reset"], Connection::HalfThenReset),
    (&["half"], Connection::HalfThenClosed),
    (&["mid"], Connection::HalfThenClosed),
    (&["reset"], Connection::Reset),
    (&["headers", "silent"], Connection::HeadThenSilent),
    (&["headers", "stall"], Connection::HeadThenSilent),
    (&["silent"], Connection::Silent),
    (&["stall"], Connection::Silent),
    (&["1000_headers"], Connection::ManyHeaders),
    (&["many_headers"], Connection::ManyHeaders),
    (&["close"], Connection::HangUp),
    (&["hang_up"], Connection::HangUp),
];

impl Connection {
    /// The kind of that name.
    pub(crate) fn named(name: &str) -> Result<Connection, String> {
        let name = name.to_ascii_lowercase().replace('-', "_");
        let fits = |words: &[&str]| words.iter().all(|word| name.contains(word));
        let found = NAMES.iter().find(|(words, _)| fits(words));
        found
            .map(|(_, kind)| *kind)
            .ok_or_else(|| format!("no server behaves as {name:?} on its connections"))
    }
}
