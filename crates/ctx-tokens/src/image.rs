use crate::media::Detail;

#[derive(Clone, Copy)]
pub(crate) enum ImageRule {
    /// Scaled to 2,048 × 2,048, then to a short side of 768; priced by 512-pixel tiles.
    Tiles { base: u32, tile: u32 },
    /// Square patches; larger images are scaled down.
    Patches {
        side: u32,
        /// Thousandths of a token.
        permille: u32,
        longest: u32,
        most: u32,
    },
    /// 258 up to 384 × 384; otherwise 258 per 768-pixel tile.
    Blocks,
    /// Any size.
    Fixed(u32),
}

impl ImageRule {
    /// A side of 0 pixels counts as 1.
    pub(crate) fn tokens(self, width: u32, height: u32, detail: Detail) -> u32 {
        let (width, height) = (width.max(1), height.max(1));
        match self {
            Self::Tiles { base, .. } if detail == Detail::Low => base,
            Self::Tiles { base, tile } => base.saturating_add(tile.saturating_mul(tiles(width, height))),
            Self::Patches { side, permille, longest, most } => {
                let (longest, most) = limits(longest, most, detail);
                let count = u64::from(patches(width, height, side, longest, most));
                let tokens = (count * u64::from(permille)).div_ceil(1_000);
                u32::try_from(tokens).unwrap_or(u32::MAX)
            }
            Self::Blocks if width <= 384 && height <= 384 => 258,
            Self::Blocks => width.div_ceil(768).saturating_mul(height.div_ceil(768)).saturating_mul(258),
            Self::Fixed(tokens) => tokens,
        }
    }
}

/// OpenAI's limits: 512 × 512 for `low`, 10,000 patches for `original`.
fn limits(longest: u32, most: u32, detail: Detail) -> (u32, u32) {
    match detail {
        Detail::Low => (longest.min(512), most.min(256)),
        Detail::High => (longest, most),
        // Only families with this limit support `original`.
        Detail::Original if longest == 2_048 => (6_000, 10_000),
        Detail::Original => (longest, most),
    }
}

fn tiles(width: u32, height: u32) -> u32 {
    let (width, height) = shrink(f64::from(width), f64::from(height), 2_048.0, f64::max);
    let (width, height) = shrink(width, height, 768.0, f64::min);
    ceiling(width / 512.0).saturating_mul(ceiling(height / 512.0))
}

/// OpenAI's steps: scale by area, then until the nearer side fills whole patches.
fn patches(width: u32, height: u32, side: u32, longest: u32, most: u32) -> u32 {
    let (width, height) = shrink(f64::from(width), f64::from(height), f64::from(longest), f64::max);
    let (across, down) = (width / f64::from(side), height / f64::from(side));
    let count = ceiling(across).saturating_mul(ceiling(down));
    if count <= most {
        return count;
    }
    let factor = (f64::from(most) / (across * down)).sqrt();
    let (across, down) = (across * factor, down * factor);
    let fill = |patches: f64| patches.floor().max(1.0) / patches;
    let factor = fill(across).min(fill(down)).min(1.0);
    ceiling(across * factor).saturating_mul(ceiling(down * factor)).min(most)
}

fn shrink(width: f64, height: f64, limit: f64, pick: fn(f64, f64) -> f64) -> (f64, f64) {
    let factor = (limit / pick(width, height)).min(1.0);
    (width * factor, height * factor)
}

/// Ignores rounding errors. At least 1.
fn ceiling(number: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates; never negative")]
    let rounded = (number - 1e-6).ceil().max(1.0) as u32;
    rounded
}
