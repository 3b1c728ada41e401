//! How large an image or a PDF is: its pixels, its pages. Read from the bytes, as
//! far as they say so openly.
//!
//! Only reservations and estimates use it. A file that says something wrong is
//! counted wrong, and no more.

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pixels {
    pub(super) width: u32,
    pub(super) height: u32,
}

impl Pixels {
    /// `None`: another format, or a file that is not whole.
    pub(super) fn of(bytes: &[u8]) -> Option<Pixels> {
        let read = match bytes {
            [0x89, b'P', b'N', b'G', ..] => Pixels {
                width: big(bytes, 16)?,
                height: big(bytes, 20)?,
            },
            [b'G', b'I', b'F', b'8', ..] => Pixels {
                width: little_16(bytes, 6)?,
                height: little_16(bytes, 8)?,
            },
            [b'B', b'M', ..] => Pixels {
                width: little_32(bytes, 18)?,
                height: little_32(bytes, 22)?,
            },
            [0xff, 0xd8, ..] => jpeg(bytes)?,
            [
                b'R',
                b'I',
                b'F',
                b'F',
                _,
                _,
                _,
                _,
                b'W',
                b'E',
                b'B',
                b'P',
                ..,
            ] => webp(bytes)?,
            _ => return None,
        };
        (read.width > 0 && read.height > 0).then_some(read)
    }

    /// Squares of so many pixels, once it is made to fit into a square of `most`.
    pub(super) fn tiles(self, side: u32, most: u32) -> u64 {
        self.tiles_of(self.width, side, most) * self.tiles_of(self.height, side, most)
    }

    /// Of one side of the image, which is scaled down if its longer one is beyond `most`.
    fn tiles_of(self, pixels: u32, side: u32, most: u32) -> u64 {
        let longest = u64::from(self.width.max(self.height));
        let pixels = u64::from(pixels);
        let scaled = if longest <= u64::from(most) {
            pixels
        } else {
            (pixels * u64::from(most)).div_ceil(longest)
        };
        scaled.div_ceil(side.into())
    }
}

fn big(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..at + 4)?
        .try_into()
        .ok()
        .map(u32::from_be_bytes)
}

fn little_32(bytes: &[u8], at: usize) -> Option<u32> {
    // A bitmap that is stored from the top has a negative height.
    let read = bytes
        .get(at..at + 4)?
        .try_into()
        .ok()
        .map(i32::from_le_bytes)?;
    Some(read.unsigned_abs())
}

fn little_24(bytes: &[u8], at: usize) -> Option<u32> {
    let [low, middle, high]: [u8; 3] = bytes.get(at..at + 3)?.try_into().ok()?;
    Some(u32::from_le_bytes([low, middle, high, 0]))
}

fn little_16(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..at + 2)?
        .try_into()
        .ok()
        .map(u16::from_le_bytes)
        .map(u32::from)
}

fn big_16(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..at + 2)?
        .try_into()
        .ok()
        .map(u16::from_be_bytes)
        .map(u32::from)
}

/// The first segment that begins a frame has them.
fn jpeg(bytes: &[u8]) -> Option<Pixels> {
    let mut at = 2;
    loop {
        let [0xff, marker] = *bytes.get(at..at + 2)? else {
            return None;
        };
        let begins_a_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        match marker {
            // A filler.
            0xff => at += 1,
            _ if begins_a_frame => {
                return Some(Pixels {
                    width: big_16(bytes, at + 7)?,
                    height: big_16(bytes, at + 5)?,
                });
            }
            _ => at += 2 + usize::try_from(big_16(bytes, at + 2)?).ok()?.max(2),
        }
    }
}

fn webp(bytes: &[u8]) -> Option<Pixels> {
    const FOURTEEN_BITS: u32 = 0x3fff;
    match bytes.get(12..16)? {
        b"VP8X" => Some(Pixels {
            width: little_24(bytes, 24)? + 1,
            height: little_24(bytes, 27)? + 1,
        }),
        b"VP8 " => Some(Pixels {
            width: little_16(bytes, 26)? & FOURTEEN_BITS,
            height: little_16(bytes, 28)? & FOURTEEN_BITS,
        }),
        b"VP8L" => {
            let bits = bytes.get(21..25)?.try_into().ok().map(u32::from_le_bytes)?;
            let width = (bits & FOURTEEN_BITS) + 1;
            let height = ((bits >> 14) & FOURTEEN_BITS) + 1;
            Some(Pixels { width, height })
        }
        _ => None,
    }
}

/// The pages of a PDF: its objects of that type, or one for each 20 kB of a file
/// that packs its objects.
pub(super) fn pages(bytes: &[u8]) -> u64 {
    const BYTES_OF_A_PAGE: u64 = 20_000;
    let mut pages = 0;
    let mut is_packed = false;
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'/') {
        rest = &rest[at + 1..];
        is_packed |= rest.starts_with(b"ObjStm");
        let value = rest.strip_prefix(b"Type").map(<[u8]>::trim_ascii_start);
        let name = value.and_then(|value| value.strip_prefix(b"/Page"));
        pages += u64::from(
            name.is_some_and(|name: &[u8]| !name.first().is_some_and(u8::is_ascii_alphanumeric)),
        );
    }
    let by_size = (bytes.len() as u64).div_ceil(BYTES_OF_A_PAGE);
    match pages {
        0 => by_size,
        pages if is_packed => by_size.max(pages),
        pages => pages,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Option<(u32, u32)> {
        Pixels::of(bytes).map(|pixels| (pixels.width, pixels.height))
    }

    #[test]
    fn pixels_stand_at_the_beginning_of_a_file() {
        let png = [
            &b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..],
            &[0, 0, 4, 0],
            &[0, 0, 3, 0],
        ]
        .concat();
        assert_eq!(read(&png), Some((1024, 768)));
        assert_eq!(read(b"GIF89a\x00\x04\x00\x03"), Some((1024, 768)));
        let head = [0; 16];
        let height = (-768_i32).to_le_bytes();
        let bmp = [&b"BM"[..], &head, &1024_u32.to_le_bytes(), &height].concat();
        assert_eq!(read(&bmp), Some((1024, 768)));
        let jpeg =
            b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc4\x00\x02\xff\xc2\x00\x0b\x08\x03\x00\x04\x00";
        assert_eq!(read(jpeg), Some((1024, 768)));
        let riff = b"RIFF\0\0\0\0WEBP";
        let extended = [
            &riff[..],
            b"VP8X\0\0\0\0\0\0\0\0",
            &[0xff, 3, 0],
            &[0xff, 2, 0],
        ]
        .concat();
        assert_eq!(read(&extended), Some((1024, 768)));
        let lossy = [
            &riff[..],
            b"VP8 \0\0\0\0\0\0\0\x9d\x01\x2a",
            &[0, 4],
            &[0, 3],
        ]
        .concat();
        assert_eq!(read(&lossy), Some((1024, 768)));
        let bits = 1023_u32 | (767 << 14);
        let lossless = [&riff[..], b"VP8L\0\0\0\0\x2f", &bits.to_le_bytes()].concat();
        assert_eq!(read(&lossless), Some((1024, 768)));
        for whole in [&png, &bmp, &jpeg.to_vec(), &extended, &lossy, &lossless] {
            for end in 0..whole.len() {
                assert_eq!(read(&whole[..end]), None, "{end} bytes of {whole:?}");
            }
        }
        assert_eq!(
            read(b"\x89PNG\r\n\x1a\n............\0\0\0\0\0\0\0\0"),
            None,
            "no pixels at all"
        );
    }

    #[test]
    fn a_large_image_is_made_smaller_before_it_is_cut_into_tiles() {
        for (width, height, tiles) in [
            (1, 1, 1),
            (512, 512, 1),
            (513, 512, 2),
            (1024, 768, 4),
            (4096, 4096, 16),
            (20_000, 10, 4),
        ] {
            assert_eq!(
                Pixels { width, height }.tiles(512, 2048),
                tiles,
                "{width} × {height}"
            );
        }
        let most = Pixels {
            width: u32::MAX,
            height: u32::MAX,
        };
        assert_eq!(most.tiles(512, 2048), 16);
    }

    #[test]
    fn pages_are_counted_where_they_can_be_seen() {
        let page = "<< /Type /Page /Parent 2 0 R >>\n<</Type/Page/Parent 2 0 R>>\n";
        assert_eq!(pages(page.as_bytes()), 2);
        assert_eq!(
            pages(b"<</Type /Pages /Count 9>> <</Type /PageLabel>>"),
            1,
            "none is seen"
        );
        assert_eq!(pages(&[b' '; 45_000]), 3);
        let packed = page.to_owned() + "<</Type /ObjStm>>" + &" ".repeat(90_000);
        assert_eq!(pages(packed.as_bytes()), 5);
    }
}
