//! A server of the measurements that has a thread for each connection, and a request as it reads it.

use std::io::BufRead;
use std::net::{TcpListener, TcpStream};

/// Starts a server, and returns its address. `connection` serves one of them until it is closed.
pub fn serve(connection: fn(TcpStream) -> Option<()>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
    let address = listener.local_addr().expect("the port is known");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || connection(stream));
        }
    });
    format!("http://{address}")
}

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
        let Some((name, value)) = header.split_once(':') else {
            break;
        };
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
    connection
        .read_line(&mut line)
        .ok()
        .filter(|count| *count > 0)?;
    Some(line)
}
