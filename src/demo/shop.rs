//! The shop's state: every row in memory, with caps on each kind.
//!
//! Owns: the tables, their caps and look-ups. Must never render or check input: the desks do.

use super::reply::Refusal;
use super::rows::{Customer, Invoice, Order, Product, Shipment};
use super::seed;

/// Rows of each kind at most. The seed holds a few hundred; a caller in a loop fills the rest and is then
/// told so, and the process stays within a few tens of megabytes.
pub(super) const ROWS_MAX: usize = 2_000;

/// Lines of one order, and list members of one row generally.
pub(super) const PARTS_MAX: usize = 50;

/// Shipping quotes given in one window.
const QUOTES_MAX: u32 = 5;

/// Length of a quote window in seconds.
const QUOTE_WINDOW_SECONDS: u64 = 60;

/// Everything the shop knows.
#[derive(Debug)]
pub(super) struct Shop {
    pub(super) products: Vec<Product>,
    pub(super) customers: Vec<Customer>,
    pub(super) orders: Vec<Order>,
    pub(super) invoices: Vec<Invoice>,
    pub(super) shipments: Vec<Shipment>,
    /// The number of the last row made, of whatever kind: numbers are never used twice.
    last_number: u64,
    quotes: Quotes,
    /// Requests answered, for their ids.
    requests: u64,
}

/// The quotes of the running window.
#[derive(Debug, Default)]
struct Quotes {
    window_start: u64,
    given: u32,
}

impl Shop {
    /// The shop as it opens: the same rows every time.
    pub(super) fn opened() -> Self {
        let stock = seed::stock();
        Self {
            products: stock.products,
            customers: stock.customers,
            orders: stock.orders,
            invoices: stock.invoices,
            shipments: stock.shipments,
            last_number: seed::LAST_NUMBER,
            quotes: Quotes::default(),
            requests: 0,
        }
    }

    /// A number no row has.
    pub(super) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// The id of the next request, under which the shop's people would find it.
    pub(super) fn next_request(&mut self) -> String {
        self.requests += 1;
        format!("shop-{:06}", self.requests)
    }

    /// Counts one quote, or says in how many seconds the window ends.
    pub(super) fn take_quote(&mut self, now: u64) -> Result<(), u64> {
        let age = now.saturating_sub(self.quotes.window_start);
        if age >= QUOTE_WINDOW_SECONDS || now < self.quotes.window_start {
            self.quotes = Quotes {
                window_start: now,
                given: 0,
            };
        }
        if self.quotes.given >= QUOTES_MAX {
            return Err(QUOTE_WINDOW_SECONDS - age.min(QUOTE_WINDOW_SECONDS));
        }
        self.quotes.given += 1;
        Ok(())
    }

    pub(super) fn product(&self, id: u64) -> Result<&Product, Refusal> {
        let found = self.products.iter().find(|row| row.id == id);
        found.ok_or_else(|| Refusal::missing("product", id))
    }

    pub(super) fn product_mut(&mut self, id: u64) -> Result<&mut Product, Refusal> {
        let found = self.products.iter_mut().find(|row| row.id == id);
        found.ok_or_else(|| Refusal::missing("product", id))
    }

    pub(super) fn customer(&self, id: u64) -> Result<&Customer, Refusal> {
        let found = self.customers.iter().find(|row| row.id == id);
        found.ok_or_else(|| Refusal::missing("customer", id))
    }

    pub(super) fn customer_mut(&mut self, id: u64) -> Result<&mut Customer, Refusal> {
        let found = self.customers.iter_mut().find(|row| row.id == id);
        found.ok_or_else(|| Refusal::missing("customer", id))
    }

    pub(super) fn order(&self, id: u64) -> Result<&Order, Refusal> {
        let found = self.orders.iter().find(|row| row.id == id);
        found.ok_or_else(|| Refusal::missing("order", id))
    }

    pub(super) fn order_mut(&mut self, id: u64) -> Result<&mut Order, Refusal> {
        let found = self.orders.iter_mut().find(|row| row.id == id);
        found.ok_or_else(|| Refusal::missing("order", id))
    }

    pub(super) fn invoice(&self, id: &str) -> Result<&Invoice, Refusal> {
        let found = self.invoices.iter().find(|row| row.id == id);
        found.ok_or_else(|| Refusal::missing("invoice", id))
    }

    pub(super) fn invoice_mut(&mut self, id: &str) -> Result<&mut Invoice, Refusal> {
        let found = self.invoices.iter_mut().find(|row| row.id == id);
        found.ok_or_else(|| Refusal::missing("invoice", id))
    }

    pub(super) fn shipment(&self, id: &str) -> Result<&Shipment, Refusal> {
        let found = self.shipments.iter().find(|row| row.id == id);
        found.ok_or_else(|| Refusal::missing("shipment", id))
    }
}

/// Refuses a new row when its table is full.
pub(super) fn room_for<T>(rows: &[T], rows_max: usize, what: &str) -> Result<(), Refusal> {
    if rows.len() < rows_max {
        return Ok(());
    }
    Err(full(rows_max, what))
}

/// The refusal of a row for which there is no room.
pub(super) fn full(rows_max: usize, what: &str) -> Refusal {
    Refusal::conflict(format!(
        "this demo keeps at most {rows_max} {what}; delete some or start it again"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_counted_by_window() {
        let mut shop = Shop::opened();
        for _ in 0..QUOTES_MAX {
            assert_eq!(shop.take_quote(1_000), Ok(()));
        }
        assert_eq!(shop.take_quote(1_010), Err(50));
        assert_eq!(shop.take_quote(1_060), Ok(()));
        // A clock that was set back starts a new window instead of locking callers out.
        assert_eq!(shop.take_quote(10), Ok(()));
    }
}
