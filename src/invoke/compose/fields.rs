//! The fields of a form or multipart body as entries: what stands under which key. Writes no bytes.

use std::borrow::Cow;

use serde_json::Value;

use super::deep::{self, EMPTY, Met};
use super::fault::about;
use super::file::{self, File, Inline};
use super::keys::Keys;
use super::value::{self, Parts};
use crate::catalog::{CollectionSeparator, Field, FileUse, Style, is_json_media_type};
use crate::invoke::{ArgumentError, ArgumentFault};

/// What stands under one key.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: String,
    pub(super) content: Content<'a>,
    /// The field it belongs to; none for one that nobody declares.
    pub(super) field: Option<&'a Field>,
}

impl Entry<'_> {
    /// The error of a joined list whose items hold what separates them.
    pub(super) fn holds_separator(&self) -> ArgumentError {
        let argument = self.field.map_or(&self.key, |field| &field.member.argument);
        fault(argument, "holds the separator of its list inside an item")
    }
}

/// The content of an entry.
#[derive(Debug)]
pub(super) enum Content<'a> {
    /// A plain value.
    Text(Cow<'a, str>),
    /// Plain values in one text, by a separator.
    Joined(Vec<Cow<'a, str>>, char),
    /// A value as JSON.
    Json(String),
    /// A file.
    File(File),
}

/// The entries of a body while they are gathered.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    pub(super) list: Vec<Entry<'a>>,
    keys: Keys,
    inline: Inline,
}

impl<'a> Entries<'a> {
    /// Entries of these fields; keys that come out of values set none of them, and none of what is reserved.
    pub(super) fn new(
        fields: &'a [Field],
        reserved: impl Iterator<Item = &'a str>,
        inline: Inline,
    ) -> Self {
        let declared = fields.iter().map(|field| field.member.name.as_str());
        Self {
            list: Vec::new(),
            keys: Keys::new(declared.chain(reserved)),
            inline,
        }
    }

    /// Adds a declared field that has a value.
    pub(super) fn add(
        &mut self,
        field: &'a Field,
        argument: &str,
        value: &'a Value,
    ) -> Result<(), ArgumentError> {
        let key = &field.member.name;
        if self.add_files(key, Some(field), field.file, argument, value)? {
            return Ok(());
        }
        match field.style {
            Some(style) => self.add_styled(field, style, argument, value),
            None => self.add_by_kind(key, Some(field), argument, value),
        }
    }

    /// Adds a field that nobody declares; its objects may be files.
    pub(super) fn add_undeclared(
        &mut self,
        key: &'a str,
        further: FileUse,
        value: &'a Value,
    ) -> Result<(), ArgumentError> {
        self.keys
            .claim_exploded("", key)
            .map_err(|problem| fault(key, problem))?;
        if self.add_files(key, None, further, key, value)? {
            return Ok(());
        }
        self.add_by_kind(key, None, key, value)
    }

    fn push(&mut self, key: &str, field: Option<&'a Field>, content: Content<'a>) {
        self.list.push(Entry {
            key: key.to_owned(),
            content,
            field,
        });
    }

    /// Adds the files that the value is; false when it is none.
    fn add_files(
        &mut self,
        key: &str,
        field: Option<&'a Field>,
        using: FileUse,
        argument: &str,
        value: &'a Value,
    ) -> Result<bool, ArgumentError> {
        let types = field.map_or(&[][..], |field| &field.content_types);
        let is_file = |value: &Value| match using {
            FileUse::Never => false,
            FileUse::Only => true,
            FileUse::Beside => value.as_object().is_some_and(file::looks_like_one),
        };
        let items = match value {
            Value::Array(items) if items.iter().any(is_file) => items.as_slice(),
            Value::Array(items) if items.is_empty() && using == FileUse::Only => {
                return Err(fault(argument, EMPTY));
            }
            Value::Array(_) => return Ok(false),
            single if is_file(single) => std::slice::from_ref(single),
            _ => return Ok(false),
        };
        for item in items {
            if is_file(item) {
                let file = file::read(argument, item, types, &mut self.inline)?;
                self.push(key, field, Content::File(file));
            } else {
                self.add_by_kind(key, field, argument, item)?;
            }
        }
        Ok(true)
    }

    /// Plain values as text, objects as JSON, lists item by item; all of it JSON where the document says so.
    fn add_by_kind(
        &mut self,
        key: &str,
        field: Option<&'a Field>,
        argument: &str,
        value: &'a Value,
    ) -> Result<(), ArgumentError> {
        let types = field.map_or(&[][..], |field| &field.content_types);
        // A range that JSON is in says nothing of the value.
        let is_json = |one: &String| !one.contains('*') && is_json_media_type(one);
        if types.iter().any(is_json) {
            self.push(key, field, Content::Json(value.to_string()));
            return Ok(());
        }
        let items = match value {
            Value::Array(items) if items.is_empty() => return Err(fault(argument, EMPTY)),
            Value::Array(items) => items.as_slice(),
            single => std::slice::from_ref(single),
        };
        for item in items {
            let content = match value::plain(item) {
                Some(text) => Content::Text(text),
                None if item.is_null() => {
                    return Err(fault(
                        argument,
                        "holds null, which has no form here; leave it out",
                    ));
                }
                None if types.iter().all(|one| one.contains('*')) => {
                    Content::Json(item.to_string())
                }
                None => {
                    return Err(fault(
                        argument,
                        "holds a list or an object, which its media type has no form for",
                    ));
                }
            };
            self.push(key, field, content);
        }
        Ok(())
    }

    fn add_styled(
        &mut self,
        field: &'a Field,
        style: Style,
        argument: &str,
        value: &'a Value,
    ) -> Result<(), ArgumentError> {
        let key = &field.member.name;
        if style == Style::DeepObject && matches!(value, Value::Array(_) | Value::Object(_)) {
            let Self { list, keys, .. } = self;
            return deep::walk(key, value, &mut |met| {
                match met {
                    Met::Key(name) => keys.claim_deep(key, name)?,
                    Met::Item(name) => keys.check_deep(key, name)?,
                    Met::Pair(name, text) => list.push(Entry {
                        key: name.to_owned(),
                        content: Content::Text(text.into_owned().into()),
                        field: Some(field),
                    }),
                }
                Ok(())
            })
            .map_err(|problem| fault(argument, problem));
        }
        let parts = value::parts(None, value).ok_or_else(|| fault(argument, value::NESTED))?;
        let is_empty = match &parts {
            Parts::One(_) => false,
            Parts::List(items) => items.is_empty(),
            Parts::Members(members) => members.is_empty(),
        };
        if is_empty && field.explode {
            return Err(fault(argument, EMPTY));
        }
        match parts {
            Parts::One(text) => self.push(key, Some(field), Content::Text(text)),
            Parts::List(items) if field.explode => {
                for item in items {
                    self.push(key, Some(field), Content::Text(item));
                }
            }
            Parts::Members(members) if field.explode => {
                for (name, text) in members {
                    self.keys
                        .claim_exploded(key, name)
                        .map_err(|problem| fault(argument, problem))?;
                    self.push(name, Some(field), Content::Text(text));
                }
            }
            Parts::List(items) => {
                let content = Content::Joined(items, separator(style));
                self.push(key, Some(field), content);
            }
            Parts::Members(members) => {
                let flat = members
                    .into_iter()
                    .flat_map(|(name, text)| [name.into(), text])
                    .collect();
                let content = Content::Joined(flat, separator(style));
                self.push(key, Some(field), content);
            }
        }
        Ok(())
    }
}

/// What stands between the values of an unexploded list.
fn separator(style: Style) -> char {
    match style {
        Style::SpaceDelimited | Style::Collection(CollectionSeparator::Space) => ' ',
        Style::PipeDelimited | Style::Collection(CollectionSeparator::Pipe) => '|',
        Style::Collection(CollectionSeparator::Tab) => '\t',
        _ => ',',
    }
}

pub(super) fn fault(argument: &str, problem: &str) -> ArgumentError {
    about(ArgumentFault::InvalidType, argument, problem)
}
