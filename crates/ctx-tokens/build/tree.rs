//! Trie of all tokens in one list.

use crate::layout::Node;

#[derive(Default)]
struct Draft {
    label: u32,
    token: u32,
    children: Vec<(u8, usize)>,
    base: u32,
    slot: usize,
}

pub(crate) fn build(texts: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    let mut tree = grow(texts);
    let slots = lay_out(&mut tree)?;
    let mut list = vec![0_u64; slots];
    for Draft { label, token, base, slot, .. } in tree {
        list[slot] = Node { base, label, token }.pack();
    }
    Ok(list.iter().flat_map(|node| node.to_le_bytes()).collect())
}

/// In sorted order, each token extends the newest child.
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

/// Assigns slots to all nodes, and returns the number of slots.
///
/// Nodes with many children come first; single children fill the gaps. The search continues where it stopped
/// for the same number of children, which keeps it fast.
fn lay_out(tree: &mut [Draft]) -> Result<usize, String> {
    let mut order: Vec<_> = (0..tree.len()).filter(|place| !tree[*place].children.is_empty()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(tree[*place].children.len()));
    let mut slots = SlotTable { taken: vec![true], bases: vec![true] };
    let (mut from, mut count) = (0, 0);
    for place in order {
        let children = std::mem::take(&mut tree[place].children);
        if children.len() != count {
            (from, count) = (0, children.len());
        }
        let base = slots.find(&children, &mut from);
        for (byte, child) in &children {
            let slot = base ^ usize::from(*byte);
            slots.taken[slot] = true;
            tree[*child].slot = slot;
        }
        slots.bases[base] = true;
        tree[place].base =
            u32::try_from(base).ok().filter(|base| *base < 1 << 24).ok_or("the tree is too large")?;
    }
    Ok(slots.taken.len())
}

/// In blocks of 256.
struct SlotTable {
    taken: Vec<bool>,
    bases: Vec<bool>,
}

impl SlotTable {
    /// Finds an unused base with free slots, the first child at `from` or later.
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
