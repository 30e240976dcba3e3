//! Random values as a function of seed, source, and a counter per source.

use ctx_types::Source;
use ctx_types::internal::{Fingerprint, SplitMix64};

pub(crate) fn draw(seed: u64, source: u64, ordinal: u64, bound: u64) -> u64 {
    let bits = mix(mix(mix(seed) ^ source) ^ ordinal);
    // The high half of the product is uniform up to a bias of bound / 2^64.
    let scaled = (u128::from(bits) * u128::from(bound)) >> 64;
    u64::try_from(scaled).unwrap_or(0)
}

pub(crate) fn source_key(source: &Source) -> u64 {
    let id = source.id.as_deref().unwrap_or_default();
    let index = source.index().filter(|_| source.id.is_none()).map_or(0, |index| index as u64 + 1);
    let kind = Fingerprint::default().bytes(source.kind.as_str().as_bytes());
    mix(kind.bytes(&[0]).bytes(id.as_bytes()).as_u64() ^ index)
}

/// Has a separate counter.
pub(crate) fn second_key(source: u64) -> u64 {
    mix(!source)
}

pub(crate) fn text_key(text: &str) -> u64 {
    Fingerprint::default().bytes(text.as_bytes()).as_u64()
}

fn mix(state: u64) -> u64 {
    SplitMix64::new(state).bits()
}

#[cfg(test)]
mod tests {
    use ctx_types::{SourceKind, Trust};

    use super::*;

    #[test]
    fn generates_every_value_below_limit() {
        let mut seen = [0; 6];
        for ordinal in 0..600 {
            let drawn = draw(1, 2, ordinal, 6);
            seen[usize::try_from(drawn).unwrap()] += 1;
        }
        assert!(seen.iter().all(|count| (60..140).contains(count)), "{seen:?}");
        assert_eq!(draw(1, 2, 3, 0), 0);
        assert_eq!(draw(1, 2, 3, 1), 0);
    }

    #[test]
    fn depends_on_seed_source_and_ordinal() {
        let all = [draw(1, 2, 3, u64::MAX), draw(2, 2, 3, u64::MAX), draw(1, 3, 3, u64::MAX)];
        assert!(all.iter().all(|drawn| *drawn != draw(1, 2, 4, u64::MAX)));
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
    }

    #[test]
    fn derives_key_from_kind_and_id_or_position() {
        let preset = |index| Source::preset(None, index, None);
        let named = |index| Source::preset(Some("p".into()), index, None);
        assert_ne!(source_key(&preset(0)), source_key(&preset(1)));
        assert_eq!(source_key(&named(0)), source_key(&named(1)));
        let entry = Source::new(SourceKind::Worldbook, Trust::Preset).with_id("p");
        assert_ne!(source_key(&named(0)), source_key(&entry));
    }
}
