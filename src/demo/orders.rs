//! The orders desk: list, place, read, change, cancel, export.
//!
//! Owns: what may happen to an order in which status. Must never touch the parts of an order: `order_parts`
//! does.

use std::fmt::Write as _;

use axum::http::StatusCode;

use super::call::{Call, Faults, Form};
use super::customers::address;
use super::page::Window;
use super::reply::{Place, Refusal, Reply};
use super::rows::{Event, Line, Money, Order};
use super::seed;
use super::shop::{PARTS_MAX, ROWS_MAX, Shop, room_for};
use super::words::{CancelReason, Country, Currency, ExportFormat, OrderSort, OrderStatus, Word};

/// Pieces of one line.
pub(super) const QUANTITY_MAX: u64 = 10_000;

/// The highest total an order filter may name, in minor units.
const TOTAL_MAX: u64 = 1_000_000_000_000;

const MESSAGE_CHARS_MAX: usize = 500;
const KEY_CHARS_MAX: usize = 100;

pub(super) fn list(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let statuses = call.words::<OrderStatus>(&mut faults, "status");
    let customer_id = call.whole(&mut faults, "customer_id", 1..=u64::MAX);
    let since = call.day(&mut faults, "since");
    let until = call.day(&mut faults, "until");
    let currency = call.word::<Currency>(&mut faults, "filter[currency]");
    let country = call.word::<Country>(&mut faults, "filter[country]");
    let total_min = call.whole(&mut faults, "filter[total_min]", 0..=TOTAL_MAX);
    let sort = call.word(&mut faults, "sort");
    let window = Window::of(call, &mut faults);
    faults.check()?;
    let mut rows: Vec<_> = shop
        .orders
        .iter()
        .filter(|row| statuses.is_empty() || statuses.contains(&row.status))
        .filter(|row| customer_id.is_none_or(|id| row.customer_id == id))
        .filter(|row| within(row, since, until))
        .filter(|row| currency.is_none_or(|currency| row.total.currency == currency))
        .filter(|row| country.is_none_or(|country| row.shipping_address.country == country))
        .filter(|row| total_min.is_none_or(|min| row.total.amount >= min))
        .collect();
    match sort.unwrap_or(OrderSort::Newest) {
        OrderSort::Newest => rows.sort_by(|one, two| two.created_at.cmp(&one.created_at)),
        OrderSort::Oldest => rows.sort_by(|one, two| one.created_at.cmp(&two.created_at)),
        OrderSort::Total => rows.sort_by_key(|row| (std::cmp::Reverse(row.total.amount), row.id)),
    }
    window.cut(&rows)
}

/// Whether an order was placed between two days, both included.
fn within(row: &Order, since: Option<&str>, until: Option<&str>) -> bool {
    let day = row.created_at.get(..10).unwrap_or_default();
    since.is_none_or(|since| day >= since) && until.is_none_or(|until| day <= until)
}

pub(super) fn read(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    Reply::ok(shop.order(call.id("order_id")?)?)
}

/// One line of a form: a product that is sold and a number of pieces.
pub(super) fn line(
    shop: &Shop,
    form: &Form<'_>,
    faults: &mut Faults,
    line_no: u64,
) -> Option<Line> {
    form.need(faults, &["product_id", "quantity"]);
    let product_id = form.whole(faults, "product_id", 1..=u64::MAX);
    let quantity = form.whole(faults, "quantity", 1..=QUANTITY_MAX);
    let (product_id, quantity) = (product_id?, quantity?);
    let Ok(product) = shop.product(product_id) else {
        form.fault(faults, "product_id", "must be a product of this shop");
        return None;
    };
    if product.discontinued_on.is_some() {
        form.fault(faults, "product_id", "must be a product that is still sold");
        return None;
    }
    Some(seed::line(line_no, product, quantity))
}

pub(super) fn create(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let key = call.header("idempotency-key");
    if key.is_some_and(|key| key.chars().count() > KEY_CHARS_MAX) {
        let message = format!("must be at most {KEY_CHARS_MAX} characters");
        faults.add(Place::Header, "Idempotency-Key", message);
    }
    let form = call.form()?;
    form.need(&mut faults, &["customer_id", "lines"]);
    let customer_id = form.whole(&mut faults, "customer_id", 1..=u64::MAX);
    let forms = form.forms(&mut faults, "lines", PARTS_MAX);
    let lines: Vec<_> = (1..)
        .zip(&forms)
        .filter_map(|(line_no, form)| line(shop, form, &mut faults, line_no))
        .collect();
    let gift_message = form.text(&mut faults, "gift_message", MESSAGE_CHARS_MAX);
    let shipping_address = form
        .inner(&mut faults, "shipping_address")
        .and_then(|form| address(&form, &mut faults));
    let currency = lines.first().map(|line| line.amount.currency);
    if lines
        .iter()
        .any(|line| Some(line.amount.currency) != currency)
    {
        form.fault(&mut faults, "lines", "must all be priced in one currency");
    }
    let (Some(customer_id), Some(currency)) = (customer_id, currency) else {
        if forms.is_empty() {
            form.fault(&mut faults, "lines", "must hold at least one line");
        }
        return Err(faults.refuse());
    };
    faults.check()?;

    if let Some(made) = shop
        .orders
        .iter()
        .find(|row| key.is_some() && row.idempotency_key.as_deref() == key)
    {
        return Reply::ok(made);
    }
    let Ok(customer) = shop.customer(customer_id) else {
        let mut faults = Faults::default();
        form.fault(
            &mut faults,
            "customer_id",
            "must be a customer of this shop",
        );
        return Err(faults.refuse());
    };
    if customer.locked {
        let message = format!("customer {customer_id} is locked and cannot order");
        return Err(Refusal::new(StatusCode::FORBIDDEN, message));
    }
    let shipping_address = shipping_address.unwrap_or_else(|| customer.address.clone());
    room_for(&shop.orders, ROWS_MAX, "orders")?;
    let mut row = Order {
        id: shop.next_number(),
        customer_id,
        status: OrderStatus::Pending,
        lines,
        total: Money {
            amount: 0,
            currency,
        },
        shipping_address,
        gift_message: gift_message.map(str::to_owned),
        cancel_reason: None,
        created_at: call.moment(),
        history: vec![Event {
            at: call.moment(),
            what: "placed".to_owned(),
        }],
        notes: Vec::new(),
        idempotency_key: key.map(str::to_owned),
    };
    row.recount();
    let reply = Reply::created(&row);
    shop.orders.push(row);
    reply
}

pub(super) fn update(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("order_id")?;
    let status = shop.order(id)?.status;
    let mut faults = Faults::default();
    let form = call.form()?;
    let gift_message = form.text(&mut faults, "gift_message", MESSAGE_CHARS_MAX);
    let shipping_address = form
        .inner(&mut faults, "shipping_address")
        .and_then(|form| address(&form, &mut faults));
    faults.check()?;
    if shipping_address.is_some() && !is_waiting(status) {
        return Err(settled(id, status, "its address cannot change"));
    }
    let row = shop.order_mut(id)?;
    if let Some(address) = shipping_address {
        row.shipping_address = address;
    }
    if gift_message.is_some() || form.cleared("gift_message") {
        row.gift_message = gift_message.map(str::to_owned);
    }
    Reply::ok(row)
}

/// Whether an order is still in the house, so that it can be changed.
pub(super) fn is_waiting(status: OrderStatus) -> bool {
    matches!(
        status,
        OrderStatus::Pending | OrderStatus::Paid | OrderStatus::Packed
    )
}

/// The refusal to change an order that is past changing.
pub(super) fn settled(id: u64, status: OrderStatus, what: &str) -> Refusal {
    Refusal::conflict(format!("order {id} is {}: {what}", status.as_str()))
}

pub(super) fn cancel(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("order_id")?;
    let status = shop.order(id)?.status;
    let mut faults = Faults::default();
    let form = call.form()?;
    form.need(&mut faults, &["reason"]);
    let reason = form.word::<CancelReason>(&mut faults, "reason");
    faults.check()?;
    if !is_waiting(status) {
        return Err(settled(id, status, "it cannot be cancelled"));
    }
    let row = shop.order_mut(id)?;
    row.status = OrderStatus::Cancelled;
    row.cancel_reason = reason;
    row.history.push(Event {
        at: call.moment(),
        what: "cancelled".to_owned(),
    });
    Reply::ok(row)
}

/// Every order with its customer, history and notes: large unless a limit narrows it.
pub(super) fn export(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let format = call
        .word(&mut faults, "format")
        .unwrap_or(ExportFormat::Json);
    let limit = call
        .whole(&mut faults, "limit", 1..=10_000)
        .unwrap_or(u64::MAX);
    let since = call.day(&mut faults, "since");
    let until = call.day(&mut faults, "until");
    let statuses = call.words::<OrderStatus>(&mut faults, "status");
    faults.check()?;
    let rows = shop
        .orders
        .iter()
        .filter(|row| within(row, since, until))
        .filter(|row| statuses.is_empty() || statuses.contains(&row.status))
        .take(usize::try_from(limit).unwrap_or(usize::MAX));
    match format {
        ExportFormat::Json => {
            let rows: Vec<_> = rows.map(|row| exported(shop, row)).collect();
            Reply::ok(&rows)
        }
        ExportFormat::Csv => {
            let mut csv = String::from("id,customer_id,status,amount,currency,created_at\r\n");
            for row in rows {
                // Writing into a String cannot fail.
                let _ = write!(
                    csv,
                    "{},{},{},{},{},{}\r\n",
                    row.id,
                    row.customer_id,
                    row.status.as_str(),
                    row.total.amount,
                    row.total.currency.as_str(),
                    row.created_at
                );
            }
            Ok(Reply::media("text/csv; charset=utf-8", csv.into_bytes()))
        }
        ExportFormat::Xlsx => Err(Refusal::new(
            StatusCode::NOT_IMPLEMENTED,
            "the spreadsheet export is not built yet",
        )),
    }
}

fn exported(shop: &Shop, row: &Order) -> serde_json::Value {
    let customer = shop.customer(row.customer_id).ok();
    serde_json::json!({
        "order": row,
        "customer_name": customer.map(|customer| &customer.name),
        "segment": customer.map(|customer| customer.segment),
        "history": row.history,
        "notes": row.notes,
    })
}

/// Orders of past years are gone; the current ones are in the list.
pub(super) fn archive(_: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let year = call.id("year")?;
    Err(Refusal::new(
        StatusCode::GONE,
        format!("the archive of {year} was deleted when its retention ended"),
    ))
}
