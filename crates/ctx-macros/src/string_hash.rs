/// SillyTavern's hash for texts and chats: cyrb53 (public domain) of UTF-16 units, seed 0.
pub(crate) fn hash_text(text: &str) -> u64 {
    let (mut high, mut low) = (0xdead_beef_u32, 0x41c6_ce57_u32);
    for unit in text.encode_utf16() {
        high = (high ^ u32::from(unit)).wrapping_mul(2_654_435_761);
        low = (low ^ u32::from(unit)).wrapping_mul(1_597_334_677);
    }
    high =
        (high ^ (high >> 16)).wrapping_mul(2_246_822_507) ^ (low ^ (low >> 13)).wrapping_mul(3_266_489_909);
    low = (low ^ (low >> 16)).wrapping_mul(2_246_822_507) ^ (high ^ (high >> 13)).wrapping_mul(3_266_489_909);
    (u64::from(low & 0x001f_ffff) << 32) | u64::from(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_reference_hashes() {
        assert_eq!(hash_text(""), 3_338_908_027_751_811);
        assert_eq!(hash_text("a"), 7_929_297_801_672_961);
        assert_eq!(hash_text("界😀"), 8_233_266_127_979_693);
    }
}
