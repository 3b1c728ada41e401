//! A request, as the servers of the measurements read it that have a thread for each connection.

use std::io::BufRead;

pub struct Request {
    /// Its first line, which has the path.
    pub line: String,
    pub body: Vec<u8>,
}

/// The next request of a connection. `None`: the connection is closed.
pub fn read_request(connection: &mut impl BufRead) -> Option<Request> {
    let line = read_line(connection)?;
    let mut length = 0;
    loop {
        let header = read_line(connection)?;
        let Some((name, value)) = header.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body).ok()?;
    Some(Request { line, body })
}

fn read_line(connection: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    connection.read_line(&mut line).ok().filter(|count| *count > 0)?;
    Some(line)
}
