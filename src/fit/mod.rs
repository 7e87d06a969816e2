//! Fits of win rate models to samples: least squares and maximum likelihood, with intervals clustered by game.

pub mod sigmoid;

pub use sigmoid::Sigmoid;
