//! What a server sends as its body.

use std::time::Duration;

use serde_json::Value;

use crate::gzip;

/// Pieces sent one after another, then perhaps one more over and over.
#[derive(Clone, Default)]
pub(crate) struct Body {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) repeated: Option<Repeated>,
}

#[derive(Clone)]
pub(crate) struct Piece {
    pub(crate) delay: Duration,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Clone)]
pub(crate) struct Repeated {
    pub(crate) bytes: Vec<u8>,
    pub(crate) pause: Duration,
    pub(crate) times: usize,
}

impl Body {
    /// The body of one of a row's responses.
    pub(crate) fn read(server: &Value) -> Result<Body, String> {
        let mut body = Body::default();
        if let Some(json) = server.get("body_json") {
            body.push(Duration::ZERO, json.to_string().into_bytes());
        } else if let Some(text) = server["body_text"].as_str() {
            body.text(Duration::ZERO, text)?;
        } else if let Some(whole) = server.get("body") {
            // As it is: no macro.
            let text = whole
                .as_str()
                .map_or_else(|| whole.to_string(), str::to_owned);
            body.push(Duration::ZERO, text.into_bytes());
        } else if let Some(text) = server["body_base64"].as_str() {
            body.push(Duration::ZERO, base64(text)?);
        }
        for chunk in server["chunks"].as_array().into_iter().flatten() {
            let delay = Duration::from_millis(chunk["delay_ms"].as_u64().unwrap_or(0));
            match chunk["base64"].as_str() {
                Some(text) => body.push(delay, base64(text)?),
                None => body.text(delay, chunk["text"].as_str().unwrap_or_default())?,
            }
        }
        Ok(body)
    }

    /// All of it, unless it is repeated.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.pieces
            .iter()
            .flat_map(|piece| &piece.bytes)
            .copied()
            .collect()
    }

    fn push(&mut self, delay: Duration, bytes: Vec<u8>) {
        self.pieces.push(Piece { delay, bytes });
    }

    /// A text, or what a macro makes of it.
    fn text(&mut self, delay: Duration, text: &str) -> Result<(), String> {
        if let Some(text) = text.strip_prefix("@gzip:") {
            let mut plain = Body::default();
            if let Ok(bomb) = filler("0", text) {
                plain.repeated = Some(bomb);
            } else {
                plain.text(Duration::ZERO, text)?;
            }
            let repeated = plain
                .repeated
                .as_ref()
                .map(|again| (&again.bytes[..], again.times));
            self.push(delay, gzip::packed(&plain.bytes(), repeated));
        } else if let Some(rest) = text.strip_prefix("@split:") {
            let (size, text) = rest.split_once(':').ok_or("@split has no text")?;
            let size: usize = size.parse().map_err(|_| "@split has no size")?;
            for bytes in text.as_bytes().chunks(size.max(1)) {
                self.push(delay, bytes.to_vec());
            }
        } else if let Some(rest) = text.strip_prefix("@every:") {
            let (pause, text) = rest.split_once("ms:").ok_or("@every has no time")?;
            if text.is_empty() {
                return Err("@every has no text".to_owned());
            }
            let pause = Duration::from_millis(pause.parse().map_err(|_| "@every has no time")?);
            // So short a pause only says that it never ends: it is sent as fast as it is taken.
            self.repeated = Some(if pause < Duration::from_millis(10) {
                Repeated {
                    times: usize::MAX,
                    ..filler(text, "1KiB")?
                }
            } else {
                Repeated {
                    bytes: text.into(),
                    pause,
                    times: usize::MAX,
                }
            });
        } else if let Some(rest) = text.strip_prefix("@repeat:") {
            let (text, size) = rest.rsplit_once(':').ok_or("@repeat has no size")?;
            // With dots at its end, its last character goes on.
            match text.strip_suffix('…') {
                Some(text) => {
                    self.push(delay, text.into());
                    let last = text
                        .char_indices()
                        .next_back()
                        .map_or("", |(at, _)| &text[at..]);
                    self.repeated = Some(filler(last, size)?);
                }
                None => self.repeated = Some(filler(text, size)?),
            }
        } else if let Some(size) = text.strip_prefix("@line:") {
            self.push(delay, b"data: ".to_vec());
            self.repeated = Some(filler("x", size)?);
        } else if text.starts_with('@') {
            return Err(format!(
                "unknown macro in {:?}",
                text.chars().take(40).collect::<String>()
            ));
        } else {
            self.push(delay, text.into());
        }
        Ok(())
    }
}

/// The text as often as makes this size, such as `64MiB`, in blocks.
fn filler(text: &str, size: &str) -> Result<Repeated, String> {
    let digits = size.trim_end_matches(|c: char| !c.is_ascii_digit());
    if text.is_empty() {
        return Err("nothing to repeat".to_owned());
    }
    let unit = match &size[digits.len()..] {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        other => return Err(format!("unknown unit {other:?}")),
    };
    let size = digits
        .parse::<usize>()
        .map_err(|error| format!("{size:?}: {error}"))?
        .saturating_mul(unit);
    let bytes = text.repeat((64 * 1024 / text.len()).max(1)).into_bytes();
    Ok(Repeated {
        pause: Duration::ZERO,
        times: size.div_ceil(bytes.len()),
        bytes,
    })
}

fn base64(text: &str) -> Result<Vec<u8>, String> {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for c in text.trim_end_matches('=').chars() {
        let digit = ALPHABET
            .find(c)
            .ok_or_else(|| format!("{c:?} is no base64"))?;
        bits = (bits << 6 | digit as u32) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Ok(bytes)
}
