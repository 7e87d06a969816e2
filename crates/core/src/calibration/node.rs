//! A value of a document with its path: every question that cannot be answered is an error with place and remedy.

use serde::Deserializer;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::error::CalibrationError;
use super::json::{Json, member};

/// Largest integer that a 64-bit float holds exactly: `3.0` counts as 3 up to here.
const EXACT: f64 = 9_007_199_254_740_992.0;

const RECREATE: &str = "correct it or recreate the file with `evalcurve calibrate`";

type Result<T> = std::result::Result<T, CalibrationError>;

/// A value, where it stands and in which source.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    source_name: &'a str,
    path: String,
    value: &'a Json,
}

impl<'a> Node<'a> {
    pub(super) fn root(source_name: &'a str, value: &'a Json) -> Self {
        Self { source_name, path: "$".to_owned(), value }
    }

    /// The members of an object as a source of serde's types, without those of some names.
    pub(super) fn without<'n>(&'n self, names: &'n [&'n str]) -> Members<'n, 'a> {
        Members { node: self, without: names }
    }

    /// An error at this place.
    pub(super) fn error(&self, problem: impl Into<String>, remedy: impl Into<String>) -> CalibrationError {
        CalibrationError::Field {
            source_name: self.source_name.to_owned(),
            json_path: self.path.clone(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// An error at this place whose remedy is the usual one.
    pub(super) fn wrong(&self, problem: impl Into<String>) -> CalibrationError {
        self.error(problem, RECREATE)
    }

    fn expected(&self, what: &str) -> CalibrationError {
        self.wrong(format!("expected {what}, found {}", self.value.describe()))
    }

    fn child(&self, path: String, value: &'a Json) -> Self {
        Self { source_name: self.source_name, path, value }
    }

    /// All members of an object, with their names.
    pub(super) fn members(&self) -> Result<Vec<(&'a str, Self)>> {
        let Json::Object(members) = self.value else { return Err(self.expected("an object")) };
        Ok(members.iter().map(|(name, value)| (name.as_str(), self.child(member(&self.path, name), value))).collect())
    }

    /// The member of that name; absent is an error.
    pub(super) fn get(&self, name: &str) -> Result<Self> {
        let Json::Object(members) = self.value else { return Err(self.expected("an object")) };
        match members.iter().find(|(n, _)| n == name) {
            Some((_, value)) => Ok(self.child(member(&self.path, name), value)),
            None => Err(self.child(member(&self.path, name), self.value).error(
                "the field is missing",
                "add it (where nothing is known and the format allows it, as null) or recreate the file with `evalcurve calibrate`",
            )),
        }
    }

    /// Refuses members of other names.
    pub(super) fn only(&self, names: &[&str]) -> Result<()> {
        match self.members()?.iter().find(|(name, _)| !names.contains(name)) {
            None => Ok(()),
            Some((_, node)) => Err(node.error(
                "version 1 of the format has no such field",
                format!("remove it, or correct its name to one of {}", names.join(", ")),
            )),
        }
    }

    /// The members of those names, which must be all there are.
    pub(super) fn fields<const N: usize>(&self, names: [&str; N]) -> Result<[Self; N]> {
        self.only(&names)?;
        let found: Vec<Self> = names.iter().map(|name| self.get(name)).collect::<Result<_>>()?;
        found.try_into().map_err(|_| self.wrong("the fields could not be told apart"))
    }

    /// `None` for null, else what `read` makes of the value.
    pub(super) fn optional<T>(&self, read: impl FnOnce(&Self) -> Result<T>) -> Result<Option<T>> {
        if matches!(self.value, Json::Null) { Ok(None) } else { read(self).map(Some) }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> Result<Vec<Self>> {
        let Json::List(items) = self.value else { return Err(self.expected("a list")) };
        Ok(items.iter().enumerate().map(|(i, item)| self.child(format!("{}[{i}]", self.path), item)).collect())
    }

    /// What `read` makes of each item.
    pub(super) fn list<T>(&self, read: impl Fn(&Self) -> Result<T>) -> Result<Vec<T>> {
        self.items()?.iter().map(read).collect()
    }

    /// The two items of a list of two.
    pub(super) fn pair<T: Copy>(&self, read: impl Fn(&Self) -> Result<T>) -> Result<[T; 2]> {
        match self.items()?.as_slice() {
            [a, b] => Ok([read(a)?, read(b)?]),
            _ => Err(self.expected("a list of 2")),
        }
    }

    /// A finite number.
    pub(super) fn number(&self) -> Result<f64> {
        let x = match *self.value {
            Json::Unsigned(n) => n as f64,
            Json::Signed(n) => n as f64,
            Json::Float(x) => x,
            _ => return Err(self.expected("a number")),
        };
        if x.is_finite() { Ok(x) } else { Err(self.expected("a finite number")) }
    }

    /// A number above 0.
    pub(super) fn positive(&self) -> Result<f64> {
        let x = self.number()?;
        if x > 0.0 { Ok(x) } else { Err(self.expected("a number above 0")) }
    }

    /// An integer; `3.0` is one.
    pub(super) fn integer(&self) -> Result<i64> {
        match *self.value {
            Json::Unsigned(n) => i64::try_from(n).map_err(|_| self.expected("an integer below 2^63")),
            Json::Signed(n) => Ok(n),
            Json::Float(x) if x.fract() == 0.0 && x.abs() <= EXACT => Ok(x as i64),
            _ => Err(self.expected("an integer")),
        }
    }

    /// An integer from 0.
    pub(super) fn count(&self) -> Result<u64> {
        match *self.value {
            Json::Unsigned(n) => Ok(n),
            _ => u64::try_from(self.integer()?).map_err(|_| self.expected("an integer from 0")),
        }
    }

    /// An integer of at least `least`.
    pub(super) fn count_from(&self, least: u64) -> Result<u64> {
        let n = self.count()?;
        if n >= least { Ok(n) } else { Err(self.expected(&format!("an integer from {least}"))) }
    }

    /// A text.
    pub(super) fn text(&self) -> Result<&'a str> {
        match self.value {
            Json::Text(text) => Ok(text),
            _ => Err(self.expected("a text")),
        }
    }

    /// A text that is not empty.
    pub(super) fn name(&self) -> Result<String> {
        match self.text()? {
            "" => Err(self.wrong("the name is empty")),
            name => Ok(name.to_owned()),
        }
    }

    /// A text that is one of a few words.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T> {
        let text = self.text()?;
        words.iter().find(|(word, _)| *word == text).map(|&(_, value)| value).ok_or_else(|| {
            let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.expected(&known.join(" or "))
        })
    }
}

/// The members of an object, for serde. Errors name the place.
pub(super) struct Members<'n, 'a> {
    node: &'n Node<'a>,
    without: &'n [&'n str],
}

impl<'de> Deserializer<'de> for Members<'_, 'de> {
    type Error = CalibrationError;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.node.only(&[self.without, fields].concat())?;
        let members: Vec<(&str, Node)> =
            fields.iter().map(|name| Ok((*name, self.node.get(name)?))).collect::<Result<_>>()?;
        visitor.visit_map(MapDeserializer::new(members.into_iter()))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(self.node.expected("an object"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, CalibrationError> for Node<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = CalibrationError;

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_f64(self.number()?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let count = u32::try_from(self.count()?).map_err(|_| self.wrong("a number below 2^32 is expected"))?;
        visitor.visit_u32(count)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_seq(SeqDeserializer::new(self.items()?.into_iter()))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        if self.items()?.len() == len {
            self.deserialize_seq(visitor)
        } else {
            Err(self.expected(&format!("a list of {len}")))
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let word = self.word(&words.iter().map(|w| (*w, *w)).collect::<Vec<_>>())?;
        visitor.visit_enum(IntoDeserializer::<Self::Error>::into_deserializer(word))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(self.wrong("a value of this type is not read here"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u64 f32 char str string bytes byte_buf option unit unit_struct
        newtype_struct tuple_struct map struct identifier ignored_any
    }
}
