//! The invoices desk: list, read, print, pay, remind, void.
//!
//! Owns: what may happen to an invoice in which status. Must never change an order.

use std::fmt::Write as _;

use axum::http::{StatusCode, header};

use super::call::{Call, Faults};
use super::page::Window;
use super::reply::{Refusal, Reply};
use super::rows::Invoice;
use super::shop::Shop;
use super::words::{InvoiceStatus, PaymentMethod, Word};

/// Seconds between two reminders of one invoice.
const REMINDER_PAUSE_SECONDS: u64 = 3_600;

/// The highest amount a payment may name, in minor units.
const PAYMENT_MAX: u64 = 1_000_000_000_000;

const REASON_CHARS_MAX: usize = 300;

pub(super) fn list(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let status = call.word::<InvoiceStatus>(&mut faults, "status");
    let customer_id = call.whole(&mut faults, "customer_id", 1..=u64::MAX);
    let order_id = call.whole(&mut faults, "order_id", 1..=u64::MAX);
    let due_before = call.day(&mut faults, "due_before");
    let window = Window::of(call, &mut faults);
    faults.check()?;
    let rows: Vec<_> = shop
        .invoices
        .iter()
        .filter(|row| status.is_none_or(|status| row.status == status))
        .filter(|row| customer_id.is_none_or(|id| row.customer_id == id))
        .filter(|row| order_id.is_none_or(|id| row.order_id == id))
        .filter(|row| due_before.is_none_or(|day| row.due_on.as_str() < day))
        .collect();
    window.cut(&rows)
}

pub(super) fn read(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    Reply::ok(shop.invoice(call.key("invoice_id"))?)
}

/// The lines of an invoice as they are printed.
fn printed(shop: &Shop, invoice: &Invoice) -> Vec<String> {
    let currency = invoice.total.currency.as_str();
    let mut lines = vec![
        format!("Invoice {}", invoice.id),
        format!(
            "Issued {}, due {}, {}",
            invoice.issued_on,
            invoice.due_on,
            invoice.status.as_str()
        ),
    ];
    if let Ok(order) = shop.order(invoice.order_id) {
        for line in &order.lines {
            lines.push(format!(
                "{} x {} ({}): {} {currency} in minor units",
                line.quantity, line.name, line.sku, line.amount.amount
            ));
        }
    }
    lines.push(format!(
        "Total: {} {currency} in minor units",
        invoice.total.amount
    ));
    lines
}

pub(super) fn text(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let invoice = shop.invoice(call.key("invoice_id"))?;
    let text = printed(shop, invoice).join("\n") + "\n";
    Ok(Reply::media("text/plain; charset=utf-8", text.into_bytes()))
}

pub(super) fn pdf(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let invoice = shop.invoice(call.key("invoice_id"))?;
    Ok(Reply::media(
        "application/pdf",
        write_pdf(&printed(shop, invoice)),
    ))
}

/// A one-page PDF 1.4 with some lines of text: header, five objects, cross-reference table, trailer.
fn write_pdf(lines: &[String]) -> Vec<u8> {
    let mut page = String::from("BT /F1 11 Tf 50 790 Td 16 TL\n");
    for line in lines {
        // The standard fonts have no other letters, and these three would end or escape the string.
        let safe: String = line
            .chars()
            .map(|c| {
                if c.is_ascii() && !matches!(c, '(' | ')' | '\\') {
                    c
                } else {
                    '?'
                }
            })
            .collect();
        let _ = writeln!(page, "({safe}) Tj T*");
    }
    page.push_str("ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R \
         /Resources << /Font << /F1 4 0 R >> >> >>"
            .to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{page}\nendstream", page.len()),
    ];
    // Four bytes over 127 after the header tell transfer programs that the file is binary.
    let mut pdf = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (number, object) in (1..).zip(&objects) {
        let _ = writeln!(table, "{:010} 00000 n ", pdf.len());
        pdf.extend(format!("{number} 0 obj\n{object}\nendobj\n").into_bytes());
    }
    let start = pdf.len();
    let trailer = format!(
        "{table}trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    pdf.extend(trailer.into_bytes());
    pdf
}

fn owed(invoice: &Invoice, what: &str) -> Result<(), Refusal> {
    match invoice.status {
        InvoiceStatus::Open | InvoiceStatus::Overdue => Ok(()),
        status => Err(Refusal::conflict(format!(
            "invoice {} is {}: {what}",
            invoice.id,
            status.as_str()
        ))),
    }
}

pub(super) fn pay(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.key("invoice_id");
    let total = shop.invoice(id)?.total.amount;
    let mut faults = Faults::default();
    let form = call.form()?;
    form.need(&mut faults, &["method", "amount"]);
    let method = form.word::<PaymentMethod>(&mut faults, "method");
    let amount = form.whole(&mut faults, "amount", 1..=PAYMENT_MAX);
    let paid_on = form.day(&mut faults, "paid_on");
    if amount.is_some_and(|amount| amount != total) {
        form.fault(
            &mut faults,
            "amount",
            format!("must be the total of the invoice, {total}"),
        );
    }
    faults.check()?;
    owed(shop.invoice(id)?, "it cannot be paid")?;
    let row = shop.invoice_mut(id)?;
    row.status = InvoiceStatus::Paid;
    row.payment_method = method;
    row.paid_on = Some(paid_on.map_or_else(|| call.today(), str::to_owned));
    Reply::ok(row)
}

/// One an hour: the second is told how many seconds to wait.
pub(super) fn remind(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let row = shop.invoice_mut(call.key("invoice_id"))?;
    owed(row, "there is nothing to remind of")?;
    let waited = row.reminded_at.map(|at| call.now.saturating_sub(at));
    if let Some(waited) = waited.filter(|waited| *waited < REMINDER_PAUSE_SECONDS) {
        let refusal = Refusal::new(
            StatusCode::TOO_MANY_REQUESTS,
            "one reminder an hour for each invoice",
        );
        let seconds = REMINDER_PAUSE_SECONDS - waited;
        return Err(refusal.with(header::RETRY_AFTER, &seconds.to_string()));
    }
    row.reminded_at = Some(call.now);
    let body = serde_json::json!({"invoice_id": row.id, "queued_at": call.moment()});
    Reply::json(StatusCode::ACCEPTED, &body)
}

pub(super) fn void(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.key("invoice_id");
    owed(shop.invoice(id)?, "it cannot be voided")?;
    let mut faults = Faults::default();
    let form = call.form()?;
    form.need(&mut faults, &["reason"]);
    form.text(&mut faults, "reason", REASON_CHARS_MAX);
    faults.check()?;
    let row = shop.invoice_mut(id)?;
    row.status = InvoiceStatus::Void;
    Reply::ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pdf_points_at_its_own_objects() {
        let pdf = write_pdf(&["Ça (va)\\".to_owned()]);
        let text = String::from_utf8_lossy(&pdf);
        assert!(text.contains("(?a ?va??) Tj"), "{text}");
        let find = |what: &str| {
            pdf.windows(what.len())
                .position(|bytes| bytes == what.as_bytes())
        };
        for number in 1..=5 {
            let offset = find(&format!("\n{number} 0 obj")).unwrap() + 1;
            assert!(
                text.contains(&format!("{offset:010} 00000 n ")),
                "object {number}"
            );
        }
        let start = find("xref\n0 6").unwrap();
        assert!(text.ends_with(&format!("startxref\n{start}\n%%EOF\n")));
    }
}
