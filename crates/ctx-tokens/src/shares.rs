/// Divides `total` in proportion to `weights`, by largest remainders. The shares add up to `total`.
///
/// The earlier of equal remainders comes first. If all weights are 0, they are equal. O(n log n).
///
/// ```
/// use ctx_tokens::internal::shares;
///
/// assert_eq!(shares(10, &[1, 1, 1]), [4, 3, 3]);
/// assert_eq!(shares(3, &[100, 0, 50]), [2, 0, 1]);
/// assert_eq!(shares(3, &[0, 0]), [2, 1]);
/// ```
pub fn shares(total: u32, weights: &[u64]) -> Vec<u32> {
    let sum: u128 = weights.iter().copied().map(u128::from).sum();
    if sum == 0 {
        return divide(total, weights.iter().map(|_| 1), weights.len() as u128);
    }
    divide(total, weights.iter().copied().map(u128::from), sum)
}

fn divide(total: u32, weights: impl Iterator<Item = u128>, sum: u128) -> Vec<u32> {
    let exact: Vec<u128> = weights.map(|weight| u128::from(total) * weight).collect();
    // Each quotient is at most `total`.
    let whole = |product: u128| u32::try_from(product / sum).unwrap_or(total);
    let mut shares: Vec<u32> = exact.iter().map(|product| whole(*product)).collect();
    let mut left = total.saturating_sub(shares.iter().sum());
    let mut order: Vec<usize> = (0..exact.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(exact.get(*index).map(|product| product % sum)));
    for index in order {
        if left == 0 {
            break;
        }
        if let Some(share) = shares.get_mut(index) {
            *share += 1;
            left -= 1;
        }
    }
    shares
}
