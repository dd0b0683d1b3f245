//! The back office: reports that take their time, taxes whose service is down, a ledger that breaks.
//!
//! Owns: figures over the rows. Must never change one.

use std::collections::BTreeMap;

use axum::http::{StatusCode, header};
use serde_json::{Value, json};

use super::call::{Call, Faults};
use super::reply::{Refusal, Reply, Wait};
use super::rows::Order;
use super::shop::Shop;
use super::words::{Country, OrderStatus, ReportGroup, Word};

/// Seconds a caller is asked to wait for the tax service.
const TAX_RETRY_SECONDS: &str = "120";

pub(super) fn sales(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let group = call
        .word(&mut faults, "group_by")
        .unwrap_or(ReportGroup::Month);
    faults.check()?;
    let mut groups: BTreeMap<(String, &str), (u64, u64)> = BTreeMap::new();
    for order in shop
        .orders
        .iter()
        .filter(|order| order.status != OrderStatus::Cancelled)
    {
        let currency = order.total.currency.as_str();
        for (key, amount) in grouped(shop, order, group) {
            let sums = groups.entry((key, currency)).or_default();
            sums.0 += 1;
            sums.1 = sums.1.saturating_add(amount);
        }
    }
    let rows: Vec<_> = groups
        .into_iter()
        .map(|((group, currency), (count, amount))| {
            json!({"group": group, "count": count, "revenue": {"amount": amount, "currency": currency}})
        })
        .collect();
    let body = json!({"generated_at": call.moment(), "group_by": group.as_str(), "rows": rows});
    Ok(Reply::ok(&body)?.after(Wait::Report))
}

/// What an order adds to which group; by category each line counts on its own.
fn grouped(shop: &Shop, order: &Order, group: ReportGroup) -> Vec<(String, u64)> {
    let key = match group {
        ReportGroup::Month => order.created_at.get(..7).unwrap_or_default(),
        ReportGroup::Country => order.shipping_address.country.as_str(),
        ReportGroup::Currency => order.total.currency.as_str(),
        ReportGroup::Category => {
            let lines = order.lines.iter().map(|line| {
                let product = shop.product(line.product_id);
                let category = product.map_or("discontinued", |product| &product.category);
                (category.to_owned(), line.amount.amount)
            });
            return lines.collect();
        }
    };
    vec![(key.to_owned(), order.total.amount)]
}

pub(super) fn stock(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let below = call.whole(&mut faults, "below", 1..=1_000).unwrap_or(5);
    faults.check()?;
    let rows: Vec<Value> = shop
        .products
        .iter()
        .filter(|row| row.stock < below)
        .map(|row| json!({"product_id": row.id, "sku": row.sku, "name": row.name, "stock": row.stock}))
        .collect();
    let body = json!({"generated_at": call.moment(), "below": below, "rows": rows});
    Ok(Reply::ok(&body)?.after(Wait::Report))
}

/// Counts every row against every other, which takes longer than most callers wait.
pub(super) fn audit(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let body = json!({
        "generated_at": call.moment(),
        "orders": shop.orders.len(),
        "invoices": shop.invoices.len(),
        "shipments": shop.shipments.len(),
    });
    Ok(Reply::ok(&body)?.after(Wait::Audit))
}

/// Two countries are known by heart; for the others the tax service is asked, and it is down.
pub(super) fn taxes(_: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let code = call.key("country");
    let Some(country) = Country::of(code) else {
        return Err(Refusal::missing("tax country", code));
    };
    let (standard, reduced) = match country {
        Country::Nl => (2_100, Some(900)),
        Country::De => (1_900, Some(700)),
        _ => {
            let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the tax service is down");
            return Err(refusal.with(header::RETRY_AFTER, TAX_RETRY_SECONDS));
        }
    };
    Reply::ok(&json!({
        "country": country,
        "standard_basis_points": standard,
        "reduced_basis_points": reduced,
    }))
}

/// Always breaks, and says so as servers in debug mode do: with its insides.
pub(super) fn reconcile(_: &mut Shop, _: &Call) -> Result<Reply, Refusal> {
    let trace = "java.lang.IllegalStateException: ledger out of balance\n\
                 \tat com.shop.ledger.Reconciler.close(Reconciler.java:212)\n\
                 \tat com.shop.ledger.LedgerController.post(LedgerController.java:64)\n\
                 Caused by: org.postgresql.util.PSQLException: \
                 jdbc:postgresql://ledger:hunter2@db.internal:5432/ledger refused\n\
                 \tat /srv/shop/ledger/lib/driver.jar\n";
    let refusal = Refusal::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "the ledger is out of balance",
    );
    Err(refusal.with_page("text/plain; charset=utf-8", trace))
}
