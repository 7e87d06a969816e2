//! What theory and simulations show.

pub mod estimate;
pub mod playouts;
pub mod plurality;
pub mod simulation;
