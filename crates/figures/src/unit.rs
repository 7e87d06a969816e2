//! Pixels of plotters, which are hundredths of those of an SVG.

/// Backend pixels in one SVG pixel.
pub(super) const UNIT: i32 = 100;

/// SVG pixels as backend pixels.
pub(super) fn unit(px: f64) -> i32 {
    (px * f64::from(UNIT)).round() as i32
}

/// The same for widths and radii.
pub(super) fn unit_size(px: f64) -> u32 {
    unit(px).unsigned_abs()
}
