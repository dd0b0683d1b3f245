//! The shipments desk: parcels, labels, tracking, quotes.
//!
//! Owns: the rules of parcels and which carrier's own service is up. Must never change an order other than
//! to mark it shipped.

use std::time::{Duration, SystemTime};

use axum::http::{StatusCode, header};
use serde_json::json;

use super::call::{Call, Faults};
use super::page::Window;
use super::reply::{Place, Refusal, Reply};
use super::rows::{Event, Shipment};
use super::shop::{ROWS_MAX, Shop, room_for};
use super::words::{Carrier, Country, OrderStatus, ShipmentStatus, Word};

/// The heaviest parcel in grams.
const WEIGHT_GRAMS_MAX: u64 = 70_000;

pub(super) fn list(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let order_id = call.whole(&mut faults, "order_id", 1..=u64::MAX);
    let carrier = call.word::<Carrier>(&mut faults, "carrier");
    let statuses = call.words::<ShipmentStatus>(&mut faults, "status");
    let window = Window::of(call, &mut faults);
    faults.check()?;
    let rows: Vec<_> = shop
        .shipments
        .iter()
        .filter(|row| order_id.is_none_or(|id| row.order_id == id))
        .filter(|row| carrier.is_none_or(|carrier| row.carrier == carrier))
        .filter(|row| statuses.is_empty() || statuses.contains(&row.status))
        .collect();
    window.cut(&rows)
}

pub(super) fn read(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    Reply::ok(shop.shipment(call.key("shipment_id"))?)
}

pub(super) fn create(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let form = call.form()?;
    form.need(&mut faults, &["order_id", "carrier", "weight_grams"]);
    let order_id = form.whole(&mut faults, "order_id", 1..=u64::MAX);
    let carrier = form.word::<Carrier>(&mut faults, "carrier");
    let weight_grams = form.whole(&mut faults, "weight_grams", 1..=WEIGHT_GRAMS_MAX);
    let (Some(order_id), Some(carrier), Some(weight_grams)) = (order_id, carrier, weight_grams)
    else {
        return Err(faults.refuse());
    };
    let Ok(order) = shop.order(order_id) else {
        form.fault(&mut faults, "order_id", "must be an order of this shop");
        return Err(faults.refuse());
    };
    if !matches!(order.status, OrderStatus::Paid | OrderStatus::Packed) {
        return Err(Refusal::conflict(format!(
            "order {order_id} is {}: only a paid or packed order can be shipped",
            order.status.as_str()
        )));
    }
    room_for(&shop.shipments, ROWS_MAX, "shipments")?;
    let event = Event {
        at: call.moment(),
        what: "handed to the carrier".to_owned(),
    };
    let number = shop.next_number();
    let row = Shipment {
        id: format!("SHP-{number}"),
        order_id,
        carrier,
        status: ShipmentStatus::LabelCreated,
        tracking_code: format!("{number:010}"),
        weight_grams,
        created_at: call.moment(),
        events: vec![event.clone()],
    };
    let reply = Reply::created(&row);
    shop.shipments.push(row);
    let order = shop.order_mut(order_id)?;
    order.status = OrderStatus::Shipped;
    order.history.push(event);
    reply
}

pub(super) fn events(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    Reply::ok(&shop.shipment(call.key("shipment_id"))?.events)
}

/// The old tracking page: it only says where the events are now.
pub(super) fn track(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let row = shop.shipment(call.key("shipment_id"))?;
    Reply::elsewhere(&format!("/shipments/{}/events", row.id))
}

/// Labels come from the carrier. Kurye's service is out of order and its proxy answers with a page of HTML.
pub(super) fn label(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let row = shop.shipment(call.key("shipment_id"))?;
    if row.carrier == Carrier::Kurye {
        let page = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1>\
                    <hr>edge-7.kurye.internal</body></html>";
        let refusal = Refusal::new(StatusCode::BAD_GATEWAY, "the carrier does not answer");
        return Err(refusal.with_page("text/html; charset=utf-8", page));
    }
    Reply::ok(&json!({
        "shipment_id": row.id,
        "format": "zpl",
        "label": format!("^XA^FO50,50^FD{}^FS^XZ", row.tracking_code),
    }))
}

/// A few a minute: the next caller is told until when to wait, as a date.
pub(super) fn quote(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let country = call.word::<Country>(&mut faults, "country");
    let weight_grams = call.whole(&mut faults, "weight_grams", 1..=WEIGHT_GRAMS_MAX);
    if call.text(&mut faults, "country").is_none() {
        faults.add(Place::Query, "country", "is required");
    }
    let Some(country) = country else {
        return Err(faults.refuse());
    };
    faults.check()?;
    if let Err(seconds) = shop.take_quote(call.now) {
        let until = SystemTime::UNIX_EPOCH
            .checked_add(Duration::from_secs(call.now.saturating_add(seconds)))
            .unwrap_or(SystemTime::UNIX_EPOCH);
        let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many quotes in a minute");
        return Err(refusal.with(header::RETRY_AFTER, &httpdate::fmt_http_date(until)));
    }
    let weight = weight_grams.unwrap_or(1_000);
    let abroad = u64::from(country != Country::Nl);
    let quotes: Vec<_> = (1u64..)
        .zip(Carrier::ALL)
        .map(|(rank, carrier)| {
            json!({
                "carrier": carrier,
                "price": {"amount": 395 + rank * 50 + abroad * 600 + weight / 20, "currency": "EUR"},
                "days": 1 + rank + abroad * 2,
            })
        })
        .collect();
    Reply::ok(&quotes)
}
