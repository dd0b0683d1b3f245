//! The Cookie header: style form, or the plain style of OpenAPI 3.2. No value adds a cookie or sets another's.

use std::collections::HashSet;

use serde_json::Value;

use super::encode::encoded;
use super::fault::{about, uncomposable};
use super::keys::{self, Keys};
use super::value::{self, Parts};
use crate::catalog::{Location, Parameter, RequestTemplate, Style, is_identity_cookie};
use crate::http::header::{COOKIE, HeaderMap, HeaderValue};
use crate::http::is_token;
use crate::invoke::{ArgumentError, ArgumentFault};

/// The cookies of a call, in the order of the template.
#[derive(Debug)]
pub(super) struct Cookies {
    pairs: Vec<String>,
    keys: Keys,
    /// The cookies that carry credentials.
    carriers: HashSet<String>,
}

impl Cookies {
    pub(super) fn new(template: &RequestTemplate) -> Self {
        let declared = template
            .parameters
            .iter()
            .filter(|parameter| parameter.location == Location::Cookie);
        Self {
            pairs: Vec::new(),
            keys: Keys::new(declared.map(|parameter| parameter.name.as_str())),
            carriers: template
                .carriers_in(Location::Cookie)
                .map(keys::path)
                .collect(),
        }
    }

    /// Adds a cookie parameter that has a value.
    pub(super) fn add(
        &mut self,
        parameter: &Parameter,
        value: &Value,
    ) -> Result<(), ArgumentError> {
        if !matches!(parameter.style, Style::Form | Style::Cookie) {
            return Err(uncomposable(&format!(
                "its cookie parameter `{}` has a style that cookies do not have",
                parameter.argument
            )));
        }
        if !is_token(&parameter.name) {
            return Err(uncomposable(&format!(
                "its cookie parameter `{}` has a name that no cookie has",
                parameter.argument
            )));
        }
        let content = parameter.content_type.as_deref();
        let fault = |problem: &str| about(ArgumentFault::InvalidType, &parameter.argument, problem);
        let parts = value::parts(content, value).ok_or_else(|| fault(value::NESTED))?;
        let name = parameter.name.as_str();
        let is_empty = match &parts {
            Parts::One(_) => false,
            Parts::List(items) => items.is_empty(),
            Parts::Members(members) => members.is_empty(),
        };
        if is_empty {
            return Err(fault(super::deep::EMPTY));
        }
        match &parts {
            Parts::One(text) => self.push(parameter, name, &[text]),
            Parts::List(items) if parameter.explode => items
                .iter()
                .try_for_each(|item| self.push(parameter, name, &[item])),
            Parts::Members(members) if parameter.explode => {
                for (key, text) in members {
                    self.keys.claim_exploded(name, key).map_err(&fault)?;
                    self.push(parameter, key, &[text])?;
                }
                Ok(())
            }
            other => {
                let flat = value::flat(other);
                self.push(parameter, name, &flat)
            }
        }
    }

    /// Adds one cookie whose value is some texts, separated by commas.
    fn push(
        &mut self,
        parameter: &Parameter,
        key: &str,
        texts: &[&str],
    ) -> Result<(), ArgumentError> {
        // Reading documents leaves these out already; keys of an object come from the agent.
        let path = keys::path(key);
        if is_identity_cookie(key) || self.carriers.contains(keys::stem(&path)) {
            return Err(about(
                ArgumentFault::CookieCarrierCollision,
                &parameter.argument,
                "would set a cookie that is named like one that carries a credential",
            ));
        }
        let all = || texts.iter().copied().chain([key]);
        if all().any(|text| text.contains(['\r', '\n', '\0'])) {
            return Err(about(
                ArgumentFault::HeaderInjection,
                &parameter.argument,
                "cannot hold a line break or NUL: it is sent as a cookie",
            ));
        }
        let invalid = |problem: &str| {
            about(
                ArgumentFault::InvalidCookieValue,
                &parameter.argument,
                problem,
            )
        };
        if !is_token(key) {
            return Err(invalid("has a key that no cookie can be named by"));
        }
        if all().any(|text| text.chars().any(char::is_control)) {
            return Err(invalid(
                "cannot hold control characters: it is sent as a cookie",
            ));
        }
        if parameter.style == Style::Cookie {
            let is_list = texts.len() > 1;
            let stays = |byte: u8| is_cookie_octet(byte) && !(is_list && byte == b',');
            if !texts.iter().all(|text| text.bytes().all(stays)) {
                return Err(invalid(
                    "holds what a cookie cannot: spaces, quotation marks, commas, semicolons, backslashes \
                     and everything beyond ASCII must be escaped as the backend expects it",
                ));
            }
            self.pairs.push(format!("{key}={}", texts.join(",")));
        } else {
            let texts: Vec<String> = texts.iter().copied().map(encoded).collect();
            self.pairs.push(format!("{key}={}", texts.join(",")));
        }
        Ok(())
    }

    /// Puts the one header where there are cookies.
    pub(super) fn write(&self, headers: &mut HeaderMap) -> Result<(), ArgumentError> {
        if self.pairs.is_empty() {
            return Ok(());
        }
        let value = HeaderValue::from_str(&self.pairs.join("; "))
            .map_err(|_| uncomposable("its cookies cannot be sent"))?;
        headers.insert(COOKIE, value);
        Ok(())
    }
}

/// What a cookie's value is made of (RFC 6265).
fn is_cookie_octet(byte: u8) -> bool {
    matches!(byte, 0x21 | 0x23..=0x2b | 0x2d..=0x3a | 0x3c..=0x5b | 0x5d..=0x7e)
}
