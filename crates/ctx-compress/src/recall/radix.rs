//! Sorting many small things by a number, digit by digit.

/// How many bits a digit has.
const BITS: u32 = 11;
const MASK: u64 = (1 << BITS) - 1;

/// Sorts by the lowest `bits` of keys, which have no higher ones; what has equal keys stays in its order. O(list).
pub(super) fn sort_by_key<T: Copy + Default>(list: &mut Vec<T>, bits: u32, key: impl Fn(&T) -> u64) {
    let mut next = vec![T::default(); list.len()];
    for digit in 0..bits.div_ceil(BITS) {
        let digit = |one: &T| usize::try_from(key(one) >> (digit * BITS) & MASK).unwrap_or_default();
        let mut places = [0; 1 << BITS];
        let mut count = |one: &T| places.get_mut(digit(one)).into_iter().for_each(|count| *count += 1);
        list.iter().for_each(&mut count);
        let mut begin = 0;
        for place in &mut places {
            begin += std::mem::replace(place, begin);
        }
        for one in &*list {
            let Some(place) = places.get_mut(digit(one)) else { continue };
            next.get_mut(*place).into_iter().for_each(|next| *next = *one);
            *place += 1;
        }
        std::mem::swap(list, &mut next);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_sorts_as_a_stable_sort_does(keys in prop::collection::vec(0..1_u64 << 38, 0..300), same in 1..4_u64) {
            let mut list: Vec<(u64, usize)> = keys.iter().map(|key| key / same * same).zip(0..).collect();
            let mut expected = list.clone();
            expected.sort_by_key(|one| one.0);
            sort_by_key(&mut list, 38, |one| one.0);
            prop_assert_eq!(list, expected);
        }
    }
}
