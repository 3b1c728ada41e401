use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

fn fault<T>(made: Result<T, AttachmentError>) -> String {
    made.err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[test]
fn an_image_is_encoded_once_and_shared() {
    let image = Image::bytes("image/jpg", [1, 2, 3, 4]).unwrap();
    assert_eq!(image.as_url(), "data:image/jpeg;base64,AQIDBA==");
    let data = image.data().unwrap();
    assert_eq!(
        (data.media_type(), data.base64(), data.size()),
        ("image/jpeg", "AQIDBA==", 4)
    );
    assert!(std::ptr::eq(image.as_url(), image.clone().as_url()));
}

#[test]
fn a_data_url_is_read_as_bytes_are() {
    let image = Image::url("data:image/png;base64,AQIDBA==").unwrap();
    assert_eq!(image, Image::bytes("image/png", [1, 2, 3, 4]).unwrap());
    assert_eq!(
        Image::url("DATA:image/png;charset=x;base64,AQIDBA==").unwrap(),
        image
    );
    for broken in [
        "data:",
        "data:image/png,x",
        "data:image/png;base64,AQ",
        "data:text/plain;base64,AQIDBA==",
    ] {
        assert!(!fault(Image::url(broken)).is_empty(), "{broken}");
    }
}

#[test]
fn urls_are_those_that_a_provider_reads() {
    for good in [
        "https://a.example/b.png?c=d",
        "HTTP://127.0.0.1:8000/x",
        "https://ä.example/é",
    ] {
        assert_eq!(Image::url(good).unwrap().as_url(), good);
    }
    for (bad, why) in [
        ("", "does not begin"),
        ("file:///etc/passwd", "does not begin"),
        ("//a.example/b", "does not begin"),
        ("https://", "no host"),
        ("https:///b", "no host"),
        ("https://a.example/b c", "a space"),
        ("https://a.example/b\n", "a space"),
        (
            &format!("https://a.example/{}", "b".repeat(20_000)),
            "16 KiB",
        ),
    ] {
        let fault = fault(Image::url(bad));
        assert!(
            fault.contains(why) && !fault.contains("a.example"),
            "{bad:.40}: {fault}"
        );
    }
}

#[test]
fn media_types_are_checked() {
    assert!(fault(Image::bytes("png", PNG)).contains("not a media type"));
    assert!(fault(Image::bytes("application/pdf", PNG)).contains("attach it as a `File`"));
    assert!(fault(Image::bytes("image/jpeg", PNG)).contains("are of type image/png"));
    assert!(fault(Audio::bytes("video/mp4", PNG)).contains("not an audio media type"));
    assert!(Image::bytes("image/heic", b"\0\0\0\x18ftypheic").is_ok());
    assert_eq!(
        Audio::bytes("audio/x-wav", b"RIFF").unwrap().format(),
        "wav"
    );
}

#[test]
fn sizes_have_a_bound() {
    let most = vec![0; Attachment::MAX_BYTES];
    assert!(File::bytes("a", "text/plain", &most).is_ok());
    let more = vec![0; Attachment::MAX_BYTES + 1];
    for fault in [
        fault(Image::bytes("image/png", &more)),
        fault(File::bytes("a", "text/plain", &more)),
        fault(Audio::bytes("audio/wav", &more)),
        fault(Image::url(format!(
            "data:image/png;base64,{}",
            "A".repeat(Attachment::MAX_BYTES / 3 * 4 + 8)
        ))),
    ] {
        assert!(fault.contains("more than the 20971520"), "{fault}");
    }
    assert!(fault(Image::bytes("image/png", [])).contains("no bytes"));
}

#[test]
fn names_of_files_cannot_break_a_line() {
    for name in ["", " ", "a\nb", "a\0", &"a".repeat(256)] {
        assert!(
            fault(File::bytes(name, "text/plain", b"x")).contains("name of the file"),
            "{name:?}"
        );
        assert!(fault(File::id(name)).contains("id of the file"), "{name:?}");
    }
    let file = File::bytes("a\"b.pdf", "application/pdf", b"x").unwrap();
    let label = Attachment::from(file).label();
    assert!(
        label.starts_with(r#"[file "a\"b.pdf" application/pdf, 1 bytes, #"#),
        "{label}"
    );
}

#[test]
fn the_short_form_tells_contents_apart_and_debug_shows_none() {
    let (one, other) = (
        Image::bytes("image/png", [1]).unwrap(),
        Image::bytes("image/png", [2]).unwrap(),
    );
    assert_eq!(
        one.clone().detail(Detail::Low).label(),
        "[image image/png, 1 bytes, #fac1edc2, detail low]"
    );
    assert_ne!(one.label(), other.label());
    let link = Image::url("https://me:pw@a.example/b.png?sig=hush").unwrap();
    let file = File::bytes("hush.pdf", "application/pdf", b"hush").unwrap();
    let id = File::id("file-hush").unwrap();
    let audio = Audio::bytes("audio/wav", b"hush").unwrap();
    let all = [
        one.into(),
        link.into(),
        file.into(),
        id.into(),
        Attachment::from(audio),
    ];
    let debug = format!("{all:?}");
    for content in ["AQ==", "a.example", "hush", "aHVzaA"] {
        assert!(!debug.contains(content), "{debug}");
    }
    assert!(
        debug.contains("image/png, 1 bytes") && debug.contains("audio/wav, 4 bytes"),
        "{debug}"
    );
}

#[test]
fn files_on_disk_are_told_by_their_bytes() {
    let folder = std::env::temp_dir().join(format!("llmnode-media-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).unwrap();
        folder.join(name)
    };
    assert_eq!(
        Image::open(write("a.jpg", PNG)).unwrap(),
        Image::bytes("image/png", PNG).unwrap()
    );
    let pdf = File::open(write("b.pdf", b"%PDF-1.7")).unwrap();
    assert_eq!(
        pdf,
        File::bytes("b.pdf", "application/pdf", b"%PDF-1.7").unwrap()
    );
    let text = File::open(write("c.md", "é".as_bytes())).unwrap();
    assert_eq!(text, File::bytes("c.md", "text/plain", "é").unwrap());
    assert_eq!(Audio::open(write("d", b"ID3...")).unwrap().format(), "mp3");
    assert!(fault(Image::open(write("e.png", b"%PDF-1.7"))).contains("does not begin like a PNG"));
    assert!(fault(File::open(write("f", b"\0\xff"))).contains("neither a PDF nor a text"));
    assert!(
        fault(File::open(write(
            "g",
            &vec![b'a'; Attachment::MAX_BYTES + 1]
        )))
        .contains("has 20971521 bytes")
    );
    assert!(fault(Image::open(&folder)).contains("is not a file"));
    assert!(fault(Image::open(folder.join("none"))).contains("none cannot be read"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn estimates_are_flat() {
    let image = Image::bytes("image/png", vec![7; 100_000]).unwrap();
    assert_eq!(
        (image.tokens(), image.detail(Detail::Low).tokens()),
        (765, 85)
    );
    assert_eq!(
        File::bytes("a", "text/plain", [b'a'; 400])
            .unwrap()
            .tokens(),
        100
    );
    assert_eq!(
        (
            File::id("a").unwrap().tokens(),
            File::bytes("a", "application/pdf", b"x").unwrap().tokens()
        ),
        (1500, 1500)
    );
}
