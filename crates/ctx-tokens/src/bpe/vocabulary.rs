use super::layout::{Merge, Node, ROW, Token, row_and_tag};

/// Tokens beyond the limit before a count stops. Backtracking can lower a count by a few tokens, since a
/// token has at most 128 bytes.
const SLACK: usize = 256;

#[derive(Clone, Copy, Debug)]
pub(super) struct Vocabulary<'t> {
    tokens: &'t [[u8; 8]],
    nodes: &'t [[u8; 8]],
    merges: &'t [[[u8; 4]; ROW]],
}

#[derive(Debug, Default)]
pub(super) struct Path {
    tokens: Vec<u32>,
    /// Positions without a continuation, one bit per byte.
    dead_ends: Vec<u64>,
}

impl<'t> Vocabulary<'t> {
    pub(super) const fn new(tokens: &'t [u8], nodes: &'t [u8], merges: &'t [u8]) -> Self {
        Self {
            tokens: tokens.as_chunks().0,
            nodes: nodes.as_chunks().0,
            merges: merges.as_chunks().0.as_chunks().0,
        }
    }

    pub(super) const fn tables(self) -> [&'t [u8]; 3] {
        [self.tokens.as_flattened(), self.nodes.as_flattened(), self.merges.as_flattened().as_flattened()]
    }

    /// Returns whether counting with loaded tables terminates. O(tables).
    pub(super) fn is_sound(self) -> bool {
        let is_token = |(number, packed): (u32, &[u8; 8])| {
            let Token { parts: (left, right), shorter, length, .. } =
                Token::unpack(u64::from_le_bytes(*packed));
            let is_byte = left == number && right == number;
            let is_merged = left < number && right < number;
            let has_shorter = (shorter as usize) < self.tokens.len()
                && (shorter == number || self.token(shorter).length < length);
            length > 0 && (is_byte || is_merged) && has_shorter
        };
        let is_node =
            |packed: &[u8; 8]| Node::unpack(u64::from_le_bytes(*packed)).token as usize <= self.tokens.len();
        let rows = self.merges.len();
        let is_whole = !self.tokens.is_empty() && rows > 1 && rows.is_power_of_two();
        is_whole && (0..).zip(self.tokens).all(is_token) && self.nodes.iter().all(is_node)
    }

    pub(super) fn touch(self) {
        const PAGE: usize = 4_096;
        for table in self.tables() {
            for byte in table.iter().step_by(PAGE) {
                std::hint::black_box(*byte);
            }
        }
    }

    /// Returns `None` above `limit`. Linear in the text and in the limit.
    ///
    /// In the only valid tokenization, merging keeps all adjacent tokens apart. So the search tries the
    /// longest token first, then shorter ones, and backtracks. It never retries a dead end.
    pub(super) fn count(self, piece: &[u8], limit: usize, path: &mut Path) -> Option<usize> {
        let (mut next, length) = self.longest(piece);
        if next.is_some() && length == piece.len() {
            return (limit > 0).then_some(1);
        }
        path.clear();
        let mut position = 0;
        while position < piece.len() && path.tokens.len() <= limit.saturating_add(SLACK) {
            if let Some(token) = next.and_then(|longest| self.longest_fitting_token(longest, position, path))
            {
                path.tokens.push(token);
                position += self.length(token);
                next = self.longest(piece.get(position..).unwrap_or_default()).0;
            } else {
                path.mark_dead_end(position);
                // Unreachable: each byte is a token.
                let Some(last) = path.tokens.pop() else { return Some(piece.len()) };
                position -= self.length(last);
                next = self.shorter(last);
            }
        }
        Some(path.tokens.len()).filter(|count| *count <= limit)
    }

    fn longest(self, text: &[u8]) -> (Option<u32>, usize) {
        let mut node = self.node(Node::ROOT);
        let (mut longest, mut length) = (0, 0);
        for (byte, at) in text.iter().zip(1..) {
            let child = self.node(node.child(*byte));
            if child.label != u32::from(*byte) + 1 {
                break;
            }
            node = child;
            if node.token != 0 {
                (longest, length) = (node.token, at);
            }
        }
        (longest.checked_sub(1), length)
    }

    /// Returns the longest prefix of `token` that can follow the path.
    fn longest_fitting_token(self, token: u32, position: usize, path: &Path) -> Option<u32> {
        let last = path.tokens.last().copied();
        std::iter::successors(Some(token), |longer| self.shorter(*longer)).find(|token| {
            !path.is_dead_end(position + self.length(*token))
                && last.is_none_or(|last| self.is_boundary(last, *token))
        })
    }

    /// Returns whether merging the bytes of two tokens keeps them apart.
    ///
    /// Undoes their merges, latest first. A token pair at the border must not merge before an undone merge.
    /// Among equal ranks, the left pair merges first.
    fn is_boundary(self, mut left: u32, mut right: u32) -> bool {
        let mut before = u32::MAX;
        loop {
            let (of_left, of_right) = (self.token(left), self.token(right));
            // One token in six ever merges further: most pairs need no lookup.
            let may_merge = of_left.is_part.0 && of_right.is_part.1;
            if may_merge && self.merged_token(left, right).is_some_and(|token| token < before) {
                return false;
            }
            let (of_left, of_right) = (of_left.parts, of_right.parts);
            let is_byte = (of_left.1 == left, of_right.0 == right);
            match is_byte {
                (true, true) => return true,
                (false, true) => (before, left) = (left, of_left.1),
                (false, false) if left > right => (before, left) = (left, of_left.1),
                (_, false) => (before, right) = (right + 1, of_right.0),
            }
        }
    }

    fn merged_token(self, left: u32, right: u32) -> Option<u32> {
        let (row, tag) = row_and_tag(left, right, self.merges.len().trailing_zeros());
        let merge = |packed: &[u8; 4]| Merge::unpack(u32::from_le_bytes(*packed));
        for row in self.merges.get(row..).unwrap_or_default().iter().chain(self.merges) {
            // Most pairs do not merge, so comparing the row without branches is faster.
            if row.iter().fold(false, |is_here, packed| is_here | (merge(packed).tag == tag)) {
                let is_it =
                    |merge: &Merge| merge.tag == tag && self.token(merge.token).parts == (left, right);
                if let Some(found) = row.iter().map(merge).filter(|merge| merge.token != 0).find(is_it) {
                    return Some(found.token);
                }
            }
            if row.last().is_none_or(|last| merge(last).token == 0) {
                return None;
            }
        }
        None
    }

    fn length(self, token: u32) -> usize {
        self.token(token).length as usize
    }

    fn shorter(self, token: u32) -> Option<u32> {
        Some(self.token(token).shorter).filter(|shorter| *shorter != token)
    }

    fn token(self, token: u32) -> Token {
        Token::unpack(self.tokens.get(token as usize).map_or(0, |packed| u64::from_le_bytes(*packed)))
    }

    fn node(self, place: usize) -> Node {
        Node::unpack(self.nodes.get(place).map_or(0, |packed| u64::from_le_bytes(*packed)))
    }
}

impl Path {
    fn clear(&mut self) {
        self.tokens.clear();
        self.dead_ends.clear();
    }

    fn is_dead_end(&self, position: usize) -> bool {
        self.dead_ends.get(position / 64).is_some_and(|bits| bits >> (position % 64) & 1 == 1)
    }

    fn mark_dead_end(&mut self, position: usize) {
        if self.dead_ends.len() <= position / 64 {
            self.dead_ends.resize(position / 64 + 1, 0);
        }
        if let Some(bits) = self.dead_ends.get_mut(position / 64) {
            *bits |= 1 << (position % 64);
        }
    }
}
