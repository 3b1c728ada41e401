//! Media types: as declared, and as the bytes show.

use llmnode_reader::text::one_line;

use super::error::AttachmentError;

/// In lower case, without parameters, by its usual name.
pub(super) fn media_type(written: &str) -> Result<String, AttachmentError> {
    let essence = written
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    match essence.split_once('/') {
        Some((kind, subtype)) if is_token(kind) && is_token(subtype) => {
            Ok(match essence.as_str() {
                "image/jpg" | "image/pjpeg" => "image/jpeg".to_owned(),
                "image/x-png" => "image/png".to_owned(),
                _ => essence,
            })
        }
        _ => Err(AttachmentError::new(format!(
            "{:?} is not a media type; write one such as `image/png`",
            one_line(written, 100)
        ))),
    }
}

fn is_token(part: &str) -> bool {
    let is_allowed = part
        .bytes()
        .all(|b: u8| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b));
    (1..=127).contains(&part.len()) && is_allowed
}

pub(super) fn guess(bytes: &[u8]) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"BM", "image/bmp"),
        (b"%PDF-", "application/pdf"),
        (b"ID3", "audio/mpeg"),
        (b"\xff\xfb", "audio/mpeg"),
        (b"\xff\xf3", "audio/mpeg"),
        (b"\xff\xf2", "audio/mpeg"),
        (b"fLaC", "audio/flac"),
        (b"OggS", "audio/ogg"),
    ];
    match bytes.get(8..12) {
        Some(b"WEBP") if bytes.starts_with(b"RIFF") => return Some("image/webp"),
        Some(b"WAVE") if bytes.starts_with(b"RIFF") => return Some("audio/wav"),
        _ => {}
    }
    MAGIC
        .iter()
        .find(|(magic, _)| bytes.starts_with(magic))
        .map(|(_, found)| *found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_have_one_spelling() {
        for (written, read) in [
            ("image/png", "image/png"),
            ("Image/JPG", "image/jpeg"),
            (" text/plain; charset=utf-8", "text/plain"),
            ("application/vnd.ms-excel", "application/vnd.ms-excel"),
            ("image/svg+xml", "image/svg+xml"),
        ] {
            assert_eq!(media_type(written).unwrap(), read);
        }
        for written in [
            "",
            "png",
            "image/",
            "/png",
            "image/png,x",
            "image/p\"ng",
            "image/png\n",
            "a/b/c",
            "é/x",
        ] {
            let read = media_type(written);
            assert!(
                read.is_err() || written.trim() != written,
                "{written:?} {read:?}"
            );
        }
    }

    #[test]
    fn bytes_tell_what_they_are() {
        assert_eq!(guess(b"\x89PNG\r\n\x1a\n...."), Some("image/png"));
        assert_eq!(guess(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(guess(b"RIFF\0\0\0\0WAVEfmt "), Some("audio/wav"));
        assert_eq!(guess(b"%PDF-1.7"), Some("application/pdf"));
        assert_eq!(
            (guess(b"RIFF"), guess(b""), guess(b"hello")),
            (None, None, None)
        );
    }
}
