//! SVG to PNG, with the embedded font only.

use resvg::{tiny_skia, usvg};

use super::outlines::outlined;
use super::{PlotError, font};

/// The largest number of pixels of an image.
const MOST_PIXELS: f64 = 128e6;

/// Checks that the scale is one that [`png`] accepts.
pub(super) fn check_scale(scale: f32) -> Result<(), PlotError> {
    if (0.1..=8.0).contains(&scale) {
        return Ok(());
    }
    Err(PlotError::Option { option: "scale", value: scale.to_string(), remedy: "0.1 to 8" })
}

/// Renders an SVG as PNG.
pub(super) fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PlotError> {
    check_scale(scale)?;
    let tree = tree(svg)?;
    let (width, height) = ((tree.size().width() * scale).ceil(), (tree.size().height() * scale).ceil());
    if f64::from(width) * f64::from(height) > MOST_PIXELS {
        let value = format!("{scale} ({width} x {height} pixels)");
        return Err(PlotError::Option { option: "scale", value, remedy: "a smaller scale, width or height" });
    }
    let mut pixels = tiny_skia::Pixmap::new(width as u32, height as u32)
        .ok_or_else(|| PlotError::Raster(format!("{width} x {height} pixels")))?;
    pixels.fill(tiny_skia::Color::WHITE);
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
    encoded(&pixels).map_err(|e| PlotError::Raster(e.to_string()))
}

/// The pixels as PNG. None is transparent, and compression is quick: it would take as long as the drawing.
fn encoded(pixels: &tiny_skia::Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let mut colors = vec![0; pixels.data().len() / 4 * 3];
    for (color, pixel) in colors.chunks_exact_mut(3).zip(pixels.data().chunks_exact(4)) {
        color.copy_from_slice(&pixel[..3]);
    }
    let mut data = Vec::new();
    let mut encoder = png::Encoder::new(&mut data, pixels.width(), pixels.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header()?.write_image_data(&colors)?;
    Ok(data)
}

/// What an SVG draws, with its text as outlines.
pub(super) fn tree(svg: &str) -> Result<usvg::Tree, PlotError> {
    let svg = outlined(svg, &font::face()?);
    usvg::Tree::from_str(&svg, &usvg::Options::default()).map_err(|e| PlotError::Raster(e.to_string()))
}
