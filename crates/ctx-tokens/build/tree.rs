//! The tree of all tokens, laid into one list.

use crate::layout::Node;

/// A place of the tree before it has a place in the list.
#[derive(Default)]
struct Draft {
    label: u32,
    token: u32,
    /// The bytes that lead on, in order, and where to.
    children: Vec<(u8, usize)>,
    base: u32,
    slot: usize,
}

/// Builds the list: little-endian numbers.
pub(crate) fn build(texts: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    let mut tree = grow(texts);
    let slots = lay_out(&mut tree)?;
    let mut list = vec![0_u64; slots];
    for Draft { label, token, base, slot, .. } in tree {
        list[slot] = Node { base, label, token }.pack();
    }
    Ok(list.iter().flat_map(|node| node.to_le_bytes()).collect())
}

/// Makes the tree; in order of their bytes, each token goes on from the child that was added last.
fn grow(texts: &[Vec<u8>]) -> Vec<Draft> {
    let mut sorted: Vec<_> = texts.iter().zip(1..).collect();
    sorted.sort_unstable();
    let mut tree = vec![Draft::default()];
    for (text, token) in sorted {
        let mut place = 0;
        for byte in text {
            place = match tree[place].children.last() {
                Some((label, child)) if label == byte => *child,
                _ => {
                    let child = tree.len();
                    tree[place].children.push((*byte, child));
                    tree.push(Draft { label: u32::from(*byte) + 1, ..Draft::default() });
                    child
                }
            };
        }
        tree[place].token = token;
    }
    tree
}

/// Gives every place its slot, and returns how many slots there are.
///
/// Those with the most children come first, while there is room; single children fill the holes. For each number
/// of children the search goes on where it ended, so that all of it takes a few passes over the list.
fn lay_out(tree: &mut [Draft]) -> Result<usize, String> {
    let mut order: Vec<_> = (0..tree.len()).filter(|place| !tree[*place].children.is_empty()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(tree[*place].children.len()));
    let mut room = Room { taken: vec![true], bases: vec![true] };
    let (mut from, mut count) = (0, 0);
    for place in order {
        let children = std::mem::take(&mut tree[place].children);
        if children.len() != count {
            (from, count) = (0, children.len());
        }
        let base = room.find(&children, &mut from);
        for (byte, child) in &children {
            let slot = base ^ usize::from(*byte);
            room.taken[slot] = true;
            tree[*child].slot = slot;
        }
        room.bases[base] = true;
        tree[place].base =
            u32::try_from(base).ok().filter(|base| *base < 1 << 24).ok_or("the tree is too large")?;
    }
    Ok(room.taken.len())
}

/// Which slots are taken, and which bases are given away; of both, whole blocks of 256.
struct Room {
    taken: Vec<bool>,
    bases: Vec<bool>,
}

impl Room {
    /// Finds a base that nobody has and whose slots are free, with the first child at `from` or behind it.
    fn find(&mut self, children: &[(u8, usize)], from: &mut usize) -> usize {
        loop {
            while self.taken.len() <= *from + 256 {
                self.taken.resize((self.taken.len() / 256 + 1) * 256, false);
                self.bases.resize(self.taken.len(), false);
            }
            let first = *from;
            *from += 1;
            let base = first ^ children.first().map_or(0, |(byte, _)| usize::from(*byte));
            let is_free = |(byte, _): &(u8, usize)| !self.taken[base ^ usize::from(*byte)];
            if !self.taken[first] && !self.bases[base] && children.iter().all(is_free) {
                return base;
            }
        }
    }
}
