use super::object::Object;

/// Coordinate transform: `x' = ax + cy + e`, `y' = bx + dy + f`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix(pub(super) [f64; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) fn from_operands(operands: &[Object]) -> Option<Self> {
        let mut numbers = operands.iter().filter_map(Object::number);
        let mut next = || numbers.next();
        Some(Self([next()?, next()?, next()?, next()?, next()?, next()?]))
    }

    pub(super) const fn translation(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Applies `self`, then `other`.
    pub(super) fn then(self, other: Self) -> Self {
        let [across_x, across_y, up_x, up_y, to_x, to_y] = other.0;
        let turned = |x: f64, y: f64| (x * across_x + y * up_x, x * across_y + y * up_y);
        let [first_x, first_y, second_x, second_y, moved_x, moved_y] = self.0;
        let (first, second, moved) =
            (turned(first_x, first_y), turned(second_x, second_y), turned(moved_x, moved_y));
        Self([first.0, first.1, second.0, second.1, moved.0 + to_x, moved.1 + to_y])
    }

    pub(super) const fn origin(self) -> (f64, f64) {
        let [.., x, y] = self.0;
        (x, y)
    }

    /// Vertical scale.
    pub(super) fn scale(self) -> f64 {
        let [_, _, x, y, ..] = self.0;
        x.hypot(y)
    }
}
