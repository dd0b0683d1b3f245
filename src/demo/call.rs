//! One request as the desks read it, and reading its values with a fault for each that does not fit.
//!
//! Owns: the kinds and bounds of query, header and body values. Must never know which row they are for.

use std::ops::RangeInclusive;

use axum::http::{HeaderMap, StatusCode};
use serde_json::{Map, Value};

use super::calendar;
use super::reply::{Fault, Place, Refusal};
use super::words::{Country, Word};

/// Faults reported at once; a body has room for thousands, and nobody reads more than a screenful.
const FAULTS_MAX: usize = 40;

/// Characters of a text that a query may hold; a longer one is pasted by mistake.
const QUERY_TEXT_CHARS_MAX: usize = 200;

/// A request whose route is known and whose body is JSON, or absent.
#[derive(Debug)]
pub(super) struct Call {
    /// Path parameters, decoded.
    pub(super) path: Vec<(String, String)>,
    /// Query pairs in order, decoded.
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Value>,
    /// The shop's time, in seconds since 1970.
    pub(super) now: u64,
}

impl Call {
    /// A path parameter; the router has seen to it that there is one.
    pub(super) fn key(&self, name: &str) -> &str {
        self.path
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    /// A path parameter that is a number.
    pub(super) fn id(&self, name: &str) -> Result<u64, Refusal> {
        self.key(name).parse().map_err(|_| {
            Refusal::new(
                StatusCode::BAD_REQUEST,
                format!("{name} must be a whole number"),
            )
        })
    }

    /// A header, when it is there and is text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body as a form; no body is an empty form.
    pub(super) fn form(&self) -> Result<Form<'_>, Refusal> {
        match &self.body {
            None => Ok(Form {
                members: None,
                at: String::new(),
            }),
            Some(Value::Object(members)) => Ok(Form {
                members: Some(members),
                at: String::new(),
            }),
            Some(_) => Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "the body must be a JSON object",
            )),
        }
    }

    /// The moment of the call, as rows hold it.
    pub(super) fn moment(&self) -> String {
        calendar::moment(self.now)
    }

    /// The day of the call, as rows hold it.
    pub(super) fn today(&self) -> String {
        calendar::date(self.now / calendar::DAY_SECONDS)
    }
}

/// The faults of one request.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<Fault>);

impl Faults {
    /// Notes one, unless there are plenty.
    pub(super) fn add(
        &mut self,
        place: Place,
        field: impl Into<String>,
        message: impl Into<String>,
    ) {
        if self.0.len() < FAULTS_MAX {
            self.0.push(Fault {
                place,
                field: field.into(),
                message: message.into(),
            });
        }
    }

    /// Goes on only when there is none.
    pub(super) fn check(self) -> Result<(), Refusal> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(self.refuse())
        }
    }

    /// The refusal that names them all.
    pub(super) fn refuse(self) -> Refusal {
        Refusal::invalid(self.0)
    }
}

/// Reading query values.
impl Call {
    fn raw<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.query
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// A text; empty counts as absent.
    pub(super) fn text<'a>(&'a self, faults: &mut Faults, name: &str) -> Option<&'a str> {
        let value = self.raw(name).next().filter(|value| !value.is_empty())?;
        if value.chars().count() > QUERY_TEXT_CHARS_MAX {
            let message = format!("must be at most {QUERY_TEXT_CHARS_MAX} characters");
            faults.add(Place::Query, name, message);
            return None;
        }
        Some(value)
    }

    /// A whole number within bounds.
    pub(super) fn whole(
        &self,
        faults: &mut Faults,
        name: &str,
        bounds: RangeInclusive<u64>,
    ) -> Option<u64> {
        let value = self.raw(name).next()?;
        let number = value.parse().ok().filter(|number| bounds.contains(number));
        if number.is_none() {
            faults.add(Place::Query, name, whole_message(&bounds));
        }
        number
    }

    /// A word of a closed list.
    pub(super) fn word<W: Word>(&self, faults: &mut Faults, name: &str) -> Option<W> {
        let value = self.raw(name).next()?;
        let word = W::of(value);
        if word.is_none() {
            faults.add(Place::Query, name, word_message::<W>());
        }
        word
    }

    /// Words of a closed list, each with the name repeated (`status=paid&status=packed`).
    pub(super) fn words<W: Word>(&self, faults: &mut Faults, name: &str) -> Vec<W> {
        let mut words = Vec::new();
        for value in self.raw(name) {
            match W::of(value) {
                Some(word) if words.contains(&word) => {}
                Some(word) => words.push(word),
                None => faults.add(Place::Query, name, word_message::<W>()),
            }
        }
        words
    }

    /// Texts in one value, joined by commas (`tags=oak,gift`).
    pub(super) fn listed(&self, name: &str) -> Vec<&str> {
        self.raw(name)
            .next()
            .map(|value| value.split(',').filter(|part| !part.is_empty()).collect())
            .unwrap_or_default()
    }

    /// A day.
    pub(super) fn day<'a>(&'a self, faults: &mut Faults, name: &str) -> Option<&'a str> {
        let value = self.raw(name).next()?;
        if calendar::is_date(value) {
            return Some(value);
        }
        faults.add(Place::Query, name, "must be a date such as 2026-03-31");
        None
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, faults: &mut Faults, name: &str) -> Option<bool> {
        let value = self.raw(name).next()?;
        let flag = value.parse().ok();
        if flag.is_none() {
            faults.add(Place::Query, name, "must be true or false");
        }
        flag
    }
}

fn whole_message(bounds: &RangeInclusive<u64>) -> String {
    format!(
        "must be a whole number from {} to {}",
        bounds.start(),
        bounds.end()
    )
}

fn word_message<W: Word>() -> String {
    format!("must be one of {}", W::choices())
}

/// A JSON object of the body, with the place it stands at.
#[derive(Debug)]
pub(super) struct Form<'a> {
    members: Option<&'a Map<String, Value>>,
    at: String,
}

impl<'a> Form<'a> {
    /// A member that is there and not null.
    fn value(&self, name: &str) -> Option<&'a Value> {
        self.members?.get(name).filter(|value| !value.is_null())
    }

    fn place(&self, name: &str) -> String {
        if self.at.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.at)
        }
    }

    /// Notes a fault of one member.
    pub(super) fn fault(&self, faults: &mut Faults, name: &str, message: impl Into<String>) {
        faults.add(Place::Body, self.place(name), message);
    }

    /// Notes each of these members that is absent or null.
    pub(super) fn need(&self, faults: &mut Faults, names: &[&str]) {
        for name in names {
            if self.value(name).is_none() {
                self.fault(faults, name, "is required");
            }
        }
    }

    /// Whether a member is there and null: the caller takes the value away.
    pub(super) fn cleared(&self, name: &str) -> bool {
        self.members.and_then(|members| members.get(name)) == Some(&Value::Null)
    }

    /// A text that is not blank.
    pub(super) fn text(
        &self,
        faults: &mut Faults,
        name: &str,
        chars_max: usize,
    ) -> Option<&'a str> {
        let value = self.value(name)?;
        match value.as_str().map(str::trim) {
            Some("") => self.fault(faults, name, "must not be empty"),
            Some(text) if text.chars().count() > chars_max => {
                self.fault(
                    faults,
                    name,
                    format!("must be at most {chars_max} characters"),
                );
            }
            Some(text) => return Some(text),
            None => self.fault(faults, name, "must be a string"),
        }
        None
    }

    /// A whole number within bounds.
    pub(super) fn whole(
        &self,
        faults: &mut Faults,
        name: &str,
        bounds: RangeInclusive<u64>,
    ) -> Option<u64> {
        let number = self
            .value(name)?
            .as_u64()
            .filter(|number| bounds.contains(number));
        if number.is_none() {
            self.fault(faults, name, whole_message(&bounds));
        }
        number
    }

    /// A word of a closed list.
    pub(super) fn word<W: Word>(&self, faults: &mut Faults, name: &str) -> Option<W> {
        let word = self.value(name)?.as_str().and_then(W::of);
        if word.is_none() {
            self.fault(faults, name, word_message::<W>());
        }
        word
    }

    /// A country code.
    pub(super) fn country(&self, faults: &mut Faults, name: &str) -> Option<Country> {
        self.word(faults, name)
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, faults: &mut Faults, name: &str) -> Option<bool> {
        let flag = self.value(name)?.as_bool();
        if flag.is_none() {
            self.fault(faults, name, "must be true or false");
        }
        flag
    }

    /// A day.
    pub(super) fn day(&self, faults: &mut Faults, name: &str) -> Option<&'a str> {
        let day = self
            .value(name)?
            .as_str()
            .filter(|text| calendar::is_date(text));
        if day.is_none() {
            self.fault(faults, name, "must be a date such as 2026-03-31");
        }
        day
    }

    /// An object inside.
    pub(super) fn inner(&self, faults: &mut Faults, name: &str) -> Option<Form<'a>> {
        let Value::Object(members) = self.value(name)? else {
            self.fault(faults, name, "must be an object");
            return None;
        };
        Some(Form {
            members: Some(members),
            at: self.place(name),
        })
    }

    /// A list of objects inside, at most `count_max` of them.
    pub(super) fn forms(&self, faults: &mut Faults, name: &str, count_max: usize) -> Vec<Form<'a>> {
        match self.value(name) {
            None => Vec::new(),
            Some(Value::Array(items)) if items.len() <= count_max => {
                forms(faults, items, &self.place(name))
            }
            Some(_) => {
                self.fault(
                    faults,
                    name,
                    format!("must be a list of at most {count_max} objects"),
                );
                Vec::new()
            }
        }
    }

    /// A list of texts inside, at most `count_max` of them.
    pub(super) fn texts(
        &self,
        faults: &mut Faults,
        name: &str,
        count_max: usize,
        chars_max: usize,
    ) -> Option<Vec<String>> {
        let texts = self.value(name)?.as_array().and_then(|items| {
            items
                .iter()
                .map(|item| {
                    item.as_str()
                        .filter(|text| text.chars().count() <= chars_max)
                })
                .map(|text| text.map(str::to_owned))
                .collect::<Option<Vec<_>>>()
        });
        let texts = texts.filter(|texts| texts.len() <= count_max);
        if texts.is_none() {
            let message = format!(
                "must be a list of at most {count_max} strings of at most {chars_max} characters"
            );
            self.fault(faults, name, message);
        }
        texts
    }
}

/// The objects of a list; what is no object is a fault at its position.
pub(super) fn forms<'a>(faults: &mut Faults, items: &'a [Value], at: &str) -> Vec<Form<'a>> {
    let mut forms = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let at = if at.is_empty() {
            index.to_string()
        } else {
            format!("{at}.{index}")
        };
        if let Value::Object(members) = item {
            forms.push(Form {
                members: Some(members),
                at,
            });
        } else {
            faults.add(Place::Body, at, "must be an object");
        }
    }
    forms
}
