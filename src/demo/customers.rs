//! The customers desk: list, read, write, unlock.
//!
//! Owns: the rules of customers and of the lock. Must never change another kind of row.

use axum::http::{StatusCode, header};

use super::call::{Call, Faults, Form};
use super::page::Window;
use super::reply::{Refusal, Reply};
use super::rows::{Address, Customer};
use super::shop::{ROWS_MAX, Shop, room_for};
use super::words::{Country, OrderStatus, Segment};

const TEXT_CHARS_MAX: usize = 120;

/// What the shop's staff type to unlock a customer. It guards made-up rows only and stands in the
/// example's readme.
const STAFF_PIN: &str = "4711";

/// What lists show instead of a locked customer's address; the domain is reserved for examples.
const LOCKED_EMAIL: &str = "locked@shop.example";

pub(super) fn list(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let text = call.text(&mut faults, "q").map(str::to_lowercase);
    let country = call.word::<Country>(&mut faults, "country");
    let segment = call.word::<Segment>(&mut faults, "segment");
    let since = call.day(&mut faults, "since");
    let window = Window::of(call, &mut faults);
    faults.check()?;
    let rows: Vec<Customer> = shop
        .customers
        .iter()
        .filter(|row| {
            text.as_deref()
                .is_none_or(|text| row.name.to_lowercase().contains(text))
        })
        .filter(|row| country.is_none_or(|country| row.address.country == country))
        .filter(|row| segment.is_none_or(|segment| row.segment == segment))
        .filter(|row| since.is_none_or(|since| row.created_at.as_str() >= since))
        .map(listed)
        .collect();
    window.cut(&rows)
}

/// A customer as lists show it: of a locked one, no way to get in touch.
fn listed(row: &Customer) -> Customer {
    let mut row = row.clone();
    if row.locked {
        LOCKED_EMAIL.clone_into(&mut row.email);
        row.phone = None;
    }
    row
}

fn open_customer(shop: &Shop, id: u64) -> Result<&Customer, Refusal> {
    let row = shop.customer(id)?;
    if row.locked {
        let message = format!("customer {id} is locked by the fraud desk");
        return Err(Refusal::new(StatusCode::FORBIDDEN, message));
    }
    Ok(row)
}

pub(super) fn read(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    Reply::ok(open_customer(shop, call.id("customer_id")?)?)
}

/// An address, whole or not at all.
pub(super) fn address(form: &Form<'_>, faults: &mut Faults) -> Option<Address> {
    form.need(faults, &["street", "city", "postal_code", "country"]);
    let street = form.text(faults, "street", TEXT_CHARS_MAX);
    let city = form.text(faults, "city", TEXT_CHARS_MAX);
    let postal_code = form.text(faults, "postal_code", TEXT_CHARS_MAX);
    let country = form.country(faults, "country");
    Some(Address {
        street: street?.to_owned(),
        city: city?.to_owned(),
        postal_code: postal_code?.to_owned(),
        country: country?,
    })
}

/// A text that may be an e-mail address: something, an at sign, and a domain with a dot.
fn email<'a>(form: &Form<'a>, faults: &mut Faults) -> Option<&'a str> {
    let email = form.text(faults, "email", TEXT_CHARS_MAX)?;
    let plausible = email.split_once('@').is_some_and(|(user, domain)| {
        !user.is_empty() && domain.contains('.') && !domain.contains('@') && !email.contains(' ')
    });
    if !plausible {
        form.fault(faults, "email", "must be an e-mail address");
    }
    plausible.then_some(email)
}

/// Refuses an address another customer has.
fn unused_email(shop: &Shop, email: &str, id: Option<u64>) -> Result<(), Refusal> {
    let taken = shop
        .customers
        .iter()
        .any(|row| row.email == email && Some(row.id) != id);
    if taken {
        return Err(Refusal::conflict(
            "another customer has this e-mail address",
        ));
    }
    Ok(())
}

pub(super) fn create(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let form = call.form()?;
    form.need(&mut faults, &["name", "email", "address"]);
    let name = form.text(&mut faults, "name", TEXT_CHARS_MAX);
    let email = email(&form, &mut faults);
    let phone = form.text(&mut faults, "phone", TEXT_CHARS_MAX);
    let segment = form.word(&mut faults, "segment");
    let newsletter = form.flag(&mut faults, "newsletter");
    let address = form
        .inner(&mut faults, "address")
        .and_then(|form| address(&form, &mut faults));
    let (Some(name), Some(email), Some(address)) = (name, email, address) else {
        return Err(faults.refuse());
    };
    faults.check()?;
    unused_email(shop, email, None)?;
    room_for(&shop.customers, ROWS_MAX, "customers")?;
    let row = Customer {
        id: shop.next_number(),
        name: name.to_owned(),
        email: email.to_owned(),
        phone: phone.map(str::to_owned),
        segment: segment.unwrap_or(Segment::Consumer),
        newsletter: newsletter.unwrap_or(false),
        locked: false,
        address,
        created_at: call.moment(),
    };
    let reply = Reply::created(&row);
    shop.customers.push(row);
    reply
}

pub(super) fn update(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("customer_id")?;
    open_customer(shop, id)?;
    let mut faults = Faults::default();
    let form = call.form()?;
    let name = form.text(&mut faults, "name", TEXT_CHARS_MAX);
    let email = email(&form, &mut faults);
    let phone = form.text(&mut faults, "phone", TEXT_CHARS_MAX);
    let segment = form.word(&mut faults, "segment");
    let newsletter = form.flag(&mut faults, "newsletter");
    let address = form
        .inner(&mut faults, "address")
        .and_then(|form| address(&form, &mut faults));
    faults.check()?;
    if let Some(email) = email {
        unused_email(shop, email, Some(id))?;
    }

    let row = shop.customer_mut(id)?;
    if let Some(name) = name {
        name.clone_into(&mut row.name);
    }
    if let Some(email) = email {
        email.clone_into(&mut row.email);
    }
    if phone.is_some() || form.cleared("phone") {
        row.phone = phone.map(str::to_owned);
    }
    if let Some(segment) = segment {
        row.segment = segment;
    }
    if let Some(newsletter) = newsletter {
        row.newsletter = newsletter;
    }
    if let Some(address) = address {
        row.address = address;
    }
    Reply::ok(row)
}

pub(super) fn delete(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("customer_id")?;
    open_customer(shop, id)?;
    let open = shop.orders.iter().filter(|order| {
        let done = matches!(
            order.status,
            OrderStatus::Delivered | OrderStatus::Cancelled
        );
        order.customer_id == id && !done
    });
    let open = open.count();
    if open > 0 {
        return Err(Refusal::conflict(format!(
            "customer {id} has {open} open orders"
        )));
    }
    shop.customers.retain(|row| row.id != id);
    Ok(Reply::nothing())
}

pub(super) fn orders(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("customer_id")?;
    open_customer(shop, id)?;
    let mut faults = Faults::default();
    let window = Window::of(call, &mut faults);
    faults.check()?;
    let rows: Vec<_> = shop
        .orders
        .iter()
        .filter(|row| row.customer_id == id)
        .collect();
    window.cut(&rows)
}

/// Needs the staff PIN: without it the caller is nobody the shop knows.
pub(super) fn unlock(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("customer_id")?;
    shop.customer(id)?;
    let mut faults = Faults::default();
    let form = call.form()?;
    let pin = form.text(&mut faults, "pin", TEXT_CHARS_MAX);
    faults.check()?;
    if pin != Some(STAFF_PIN) {
        let refusal = Refusal::new(
            StatusCode::UNAUTHORIZED,
            "the staff PIN is missing or wrong",
        );
        return Err(refusal.with(header::WWW_AUTHENTICATE, "Pin realm=\"staff\""));
    }
    let row = shop.customer_mut(id)?;
    if !row.locked {
        return Err(Refusal::conflict(format!("customer {id} is not locked")));
    }
    row.locked = false;
    Reply::ok(row)
}
