//! The rows of the shop, in the shape they travel.
//!
//! Owns: what a product, customer, order, invoice, shipment and review is made of. Members that are marked
//! as skipped are the shop's own and never travel. Must never check a value: the desks do.

use serde::Serialize;

use super::words::{
    CancelReason, Carrier, Country, Currency, InvoiceStatus, OrderStatus, PaymentMethod, Segment,
    ShipmentStatus,
};

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Money {
    /// In minor units of the currency: cents, pence; whole yen.
    pub(super) amount: u64,
    pub(super) currency: Currency,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Product {
    pub(super) id: u64,
    pub(super) sku: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) category: String,
    pub(super) price: Money,
    /// Pieces on the shelf.
    pub(super) stock: u64,
    pub(super) tags: Vec<String>,
    pub(super) attributes: Attributes,
    /// Counts changes; the price is changed against it.
    pub(super) version: u64,
    pub(super) created_at: String,
    pub(super) discontinued_on: Option<String>,
    #[serde(skip)]
    pub(super) reviews: Vec<Review>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Attributes {
    pub(super) colour: Option<String>,
    pub(super) material: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Review {
    pub(super) id: u64,
    pub(super) stars: u64,
    pub(super) title: String,
    pub(super) text: Option<String>,
    pub(super) author: String,
    pub(super) created_at: String,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Address {
    pub(super) street: String,
    pub(super) city: String,
    pub(super) postal_code: String,
    pub(super) country: Country,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Customer {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) email: String,
    pub(super) phone: Option<String>,
    pub(super) segment: Segment,
    pub(super) newsletter: bool,
    pub(super) locked: bool,
    pub(super) address: Address,
    pub(super) created_at: String,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Line {
    #[serde(rename = "line_no")]
    pub(super) number: u64,
    pub(super) product_id: u64,
    pub(super) sku: String,
    pub(super) name: String,
    pub(super) quantity: u64,
    pub(super) unit_price: Money,
    pub(super) amount: Money,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Order {
    pub(super) id: u64,
    pub(super) customer_id: u64,
    pub(super) status: OrderStatus,
    pub(super) lines: Vec<Line>,
    pub(super) total: Money,
    pub(super) shipping_address: Address,
    pub(super) gift_message: Option<String>,
    pub(super) cancel_reason: Option<CancelReason>,
    pub(super) created_at: String,
    #[serde(skip)]
    pub(super) history: Vec<Event>,
    #[serde(skip)]
    pub(super) notes: Vec<Note>,
    /// The key of the call that made it, so that the call can be repeated.
    #[serde(skip)]
    pub(super) idempotency_key: Option<String>,
}

impl Order {
    /// Counts the total again after a change of lines.
    pub(super) fn recount(&mut self) {
        self.total.amount = self
            .lines
            .iter()
            .fold(0, |sum, line| sum.saturating_add(line.amount.amount));
    }
}

/// Something that happened to an order or a parcel.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Event {
    pub(super) at: String,
    pub(super) what: String,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Note {
    #[serde(rename = "note_no")]
    pub(super) number: u64,
    pub(super) author: String,
    pub(super) text: String,
    pub(super) written_at: String,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Invoice {
    pub(super) id: String,
    pub(super) order_id: u64,
    pub(super) customer_id: u64,
    pub(super) status: InvoiceStatus,
    pub(super) total: Money,
    pub(super) issued_on: String,
    pub(super) due_on: String,
    pub(super) paid_on: Option<String>,
    pub(super) payment_method: Option<PaymentMethod>,
    /// When the customer was last reminded, in seconds since 1970.
    #[serde(skip)]
    pub(super) reminded_at: Option<u64>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Shipment {
    pub(super) id: String,
    pub(super) order_id: u64,
    pub(super) carrier: Carrier,
    pub(super) status: ShipmentStatus,
    pub(super) tracking_code: String,
    pub(super) weight_grams: u64,
    pub(super) created_at: String,
    #[serde(skip)]
    pub(super) events: Vec<Event>,
}

/// A branch of the category tree.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Category {
    pub(super) slug: &'static str,
    pub(super) name: &'static str,
    pub(super) children: Vec<Category>,
}
