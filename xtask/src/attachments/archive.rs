//! ZIP archives whose members are stored as they are.

/// Writes an archive; its dates are the oldest there are, so that it is the same each time.
pub(super) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, data) in members {
        let at = bytes.len();
        let about = about(name, data);
        bytes.extend(b"PK\x03\x04\x14\0");
        bytes.extend(&about);
        bytes.extend(name.as_bytes());
        bytes.extend(*data);
        list.extend(b"PK\x01\x02\x14\0\x14\0");
        list.extend(&about);
        list.extend([0; 10]);
        list.extend(long(at));
        list.extend(name.as_bytes());
    }
    let at = bytes.len();
    bytes.extend(&list);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(short(members.len()));
    bytes.extend(short(members.len()));
    bytes.extend(long(list.len()));
    bytes.extend(long(at));
    bytes.extend([0, 0]);
    bytes
}

/// What both heads of a member say: flags, method, date, checksum, sizes, the length of its name.
fn about(name: &str, data: &[u8]) -> Vec<u8> {
    let mut about = vec![0, 0, 0, 0, 0, 0, 0x21, 0];
    about.extend(crc32(data).to_le_bytes());
    about.extend(long(data.len()));
    about.extend(long(data.len()));
    about.extend(short(name.len()));
    about.extend([0, 0]);
    about
}

/// The checksum of ZIP and PNG, bit by bit.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum)))
}

fn short(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes()
}

fn long(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}
