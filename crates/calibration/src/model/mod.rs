//! The list of models: functions of the score, and what is known of each.
//!
//! A *form* is a function with its parameters ([`Model`]). A *model* ([`ModelKind`]) is a way to fit one: the sigmoid,
//! for example, can be fitted by least squares or by maximum likelihood. Each line of the list below names a file with
//! a form, the form's name in calibration files, the size of its covariance, and the models of that form. Everything
//! else (the values of options, the candidates of a choice by log loss, the calibration file, its schema, the reports)
//! iterates the list; the fits are in `evalcurve-fit`.

mod definition;
mod form;
mod formula;
mod functions;
mod kind;
mod own;

pub use definition::Needs;
pub use form::InvalidParameter;
pub use formula::Formula;
pub use own::{Own, OwnModel, register};
pub use people::Span;
pub use sigmoid::Method;
pub use wdl::{MOST_STAGE, TERMS, WdlRates};

use definition::Definition;
use form::Form;

use crate::situation::Situation;

/// Declares the files of the list, [`Model`] and [`ModelKind`].
macro_rules! models {
    ($($module:ident: $form:ident($name:literal, $size:literal) { $($kind:ident = $definition:ident),+ $(,)? })+) => {
        $(
            mod $module;
            pub use $module::$form;
        )+

        /// A model with its parameters: what turns a score and its situation into a win rate.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum Model {
            $(#[doc = concat!("See [`", stringify!($form), "`].")] $form($form),)+
            /// A model of this program's own, see [`OwnModel`].
            Own(Own),
        }

        impl Model {
            fn form(&self) -> &dyn Form {
                match self { $(Self::$form(form) => form,)+ Self::Own(own) => own }
            }

            /// `kind` of the model in the calibration file: `sigmoid`, `joint` …
            pub fn form_name(&self) -> &'static str {
                match self { $(Self::$form(_) => $name,)+ Self::Own(own) => own.name() }
            }

            /// The name of each form, the JSON Schema of its parameters, and the size of its covariance.
            #[cfg(test)]
            pub(crate) fn schemas(
                generator: &mut schemars::SchemaGenerator,
            ) -> Vec<(&'static str, schemars::Schema, usize)> {
                vec![$(($name, <$form as schemars::JsonSchema>::json_schema(generator), $size)),+]
            }

            /// The log odds of winning at a score in centipawns, view of the side to move; a draw counts half a win.
            #[inline]
            pub fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
                match self {
                    $(Self::$form(form) => Form::logit(form, score_cp, situation),)+
                    Self::Own(own) => Form::logit(own, score_cp, situation),
                }
            }

            /// Reads the parameters of the form with that name, without [`Model::check`]; `None` for an unknown name.
            pub(crate) fn deserialize_form<'de, D: serde::Deserializer<'de>>(
                name: &str,
                fields: D,
            ) -> Option<Result<Self, D::Error>> {
                match name {
                    $($name => Some(<$form as serde::Deserialize>::deserialize(fields).map(Self::$form)),)+
                    _ => Own::read(name, fields).map(|own| own.map(Self::Own)),
                }
            }
        }

        /// The models, baselines first.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ModelKind {
            $($(#[doc = concat!("The model of `", stringify!($definition), "`.")] $kind,)+)+
            /// A model of this program's own by its name; [`register`] returns it.
            Own(&'static str),
        }

        impl ModelKind {
            /// All models of the list, in its order.
            pub const ALL: &'static [Self] = &[$($(Self::$kind),+),+];

            fn form(self) -> &'static str {
                match self { $($(Self::$kind => $name,)+)+ Self::Own(name) => name }
            }

            fn definition(self) -> &'static Definition {
                match self { $($(Self::$kind => &$module::$definition,)+)+ Self::Own(_) => &own::OWN }
            }
        }
    };
}

models! {
    baselines: Constant("constant", 0) {
        Constant = CONSTANT, Shared600 = SHARED_600, Dlshogi756 = DLSHOGI_756, Lichess = LICHESS, SharedZ = SHARED_Z,
    }
    sigmoid: Sigmoid("sigmoid", 2) { LeastSquares = LEAST_SQUARES, MaximumLikelihood = MAXIMUM_LIKELIHOOD }
    lapse: Lapse("lapse", 3) { Lapse = LAPSE }
    joint: Joint("joint", 9) { Joint = JOINT }
    phase: Phase("phase", 3) { Phase = PHASE }
    isotonic: Isotonic("isotonic", 0) { Isotonic = ISOTONIC }
    people: People("people", 6) { People = PEOPLE }
    wdl: Wdl("wdl", 8) { Wdl = WDL, WdlMaterial = WDL_MATERIAL }
}
