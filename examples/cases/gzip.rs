//! Bytes in the form of gzip, stored rather than compressed.

/// RFC 1952 around the stored blocks of RFC 1951.
pub(crate) fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let blocks = bytes.len().div_ceil(0xffff).max(1);
    for index in 0..blocks {
        let begin = index * 0xffff;
        let block = &bytes[begin..bytes.len().min(begin + 0xffff)];
        let length = block.len() as u16;
        gzip.push(u8::from(index + 1 == blocks));
        gzip.extend(length.to_le_bytes());
        gzip.extend((!length).to_le_bytes());
        gzip.extend(block);
    }
    gzip.extend(crc32(bytes).to_le_bytes());
    gzip.extend((bytes.len() as u32).to_le_bytes());
    gzip
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
    })
}
