//! The rows the shop opens with: made up, plausible, and the same every time.
//!
//! Owns: the seed data. Must never depend on a clock or on chance: ids and states here are named in the
//! example's readme and in tests.

use super::calendar::{DAY_SECONDS, date, moment};
use super::rows::{
    Address, Attributes, Category, Customer, Event, Invoice, Line, Money, Note, Order, Product,
    Review, Shipment,
};
use super::words::{
    Carrier, Country, Currency, InvoiceStatus, OrderStatus, PaymentMethod, Segment, ShipmentStatus,
    Word,
};

/// The highest number a seed row has; rows made later are numbered from the next on.
pub(super) const LAST_NUMBER: u64 = 5_000;

/// 2026-01-02T08:00:00Z: the first order.
const FIRST_ORDER_SECONDS: u64 = 1_767_340_800;

const PRODUCTS: u64 = 144;
const CUSTOMERS: u64 = 180;
const ORDERS: u64 = 640;
const FIRST_ORDER_ID: u64 = 1_001;

/// A customer the fraud desk has locked.
pub(super) const LOCKED_CUSTOMER_ID: u64 = 13;

const THINGS: [(&str, &str); 12] = [
    ("Desk Lamp", "lighting"),
    ("Floor Lamp", "lighting"),
    ("Oak Chair", "seating"),
    ("Lounge Chair", "seating"),
    ("Writing Desk", "desks"),
    ("Standing Desk", "desks"),
    ("Tea Kettle", "kitchen"),
    ("Chef's Knife", "kitchen"),
    ("Mechanical Keyboard", "computing"),
    ("Trackball", "computing"),
    ("Wool Blanket", "textiles"),
    ("Linen Curtain", "textiles"),
];
const MAKERS: [&str; 12] = [
    "Alder", "Birka", "Corvo", "Dalen", "Estrel", "Fjord", "Gökçe", "Harbour", "Iris", "Junipero",
    "Kumo", "Løv",
];
const COLOURS: [&str; 6] = ["black", "white", "oak", "moss", "brick", "sky"];
const MATERIALS: [&str; 5] = ["wood", "steel", "glass", "wool", "linen"];
const TAGS: [&str; 6] = ["gift", "sale", "handmade", "bestseller", "fragile", "bulky"];
const GIVEN: [&str; 15] = [
    "Ada", "Bram", "Chloé", "Deniz", "Elif", "Freya", "Goran", "Hana", "Ines", "Jonas", "Kenji",
    "Lotte", "Mehmet", "Noor", "Ömer",
];
const FAMILY: [&str; 12] = [
    "Yılmaz",
    "de Vries",
    "Schmidt",
    "Okafor",
    "Tanaka",
    "Lindqvist",
    "Moreau",
    "Brown",
    "Kaya",
    "Novak",
    "Rossi",
    "Hansen",
];
const CITIES: [(&str, &str, Country); 8] = [
    ("Utrecht", "3511 AB", Country::Nl),
    ("Leipzig", "04109", Country::De),
    ("Lyon", "69002", Country::Fr),
    ("Leeds", "LS1 4AP", Country::Gb),
    ("Portland", "97205", Country::Us),
    ("İzmir", "35220", Country::Tr),
    ("Kyoto", "604-8005", Country::Jp),
    ("Malmö", "211 20", Country::Se),
];
const STREETS: [&str; 6] = [
    "Canal Street",
    "Mill Lane",
    "Station Road",
    "High Street",
    "Garden Row",
    "Quay",
];
const REVIEW_TITLES: [&str; 5] = [
    "Solid",
    "Better than expected",
    "Arrived late",
    "Would buy again",
    "Too small",
];

/// All seed rows.
#[derive(Debug)]
pub(super) struct Stock {
    pub(super) products: Vec<Product>,
    pub(super) customers: Vec<Customer>,
    pub(super) orders: Vec<Order>,
    pub(super) invoices: Vec<Invoice>,
    pub(super) shipments: Vec<Shipment>,
}

/// Draws that look arbitrary and are the same every time: a multiplicative hash of a counter.
#[derive(Debug)]
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        let mixed = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed ^ (mixed >> 32)) % bound.max(1)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let index = self.below(from.len() as u64);
        usize::try_from(index)
            .ok()
            .and_then(|index| from.get(index))
            .copied()
    }

    fn name(&mut self, from: &[&'static str]) -> &'static str {
        self.pick(from).unwrap_or_default()
    }
}

/// The category tree.
pub(super) fn categories() -> Vec<Category> {
    let leaf = |slug, name| Category {
        slug,
        name,
        children: Vec::new(),
    };
    vec![
        Category {
            slug: "furniture",
            name: "Furniture",
            children: vec![
                leaf("seating", "Chairs and stools"),
                leaf("desks", "Desks and tables"),
                leaf("lighting", "Lamps"),
            ],
        },
        Category {
            slug: "household",
            name: "Household",
            children: vec![
                leaf("kitchen", "Kitchen"),
                Category {
                    slug: "fabrics",
                    name: "Fabrics",
                    children: vec![leaf("textiles", "Blankets and curtains")],
                },
            ],
        },
        leaf("computing", "Keyboards and pointing devices"),
    ]
}

/// Makes every row.
pub(super) fn stock() -> Stock {
    let mut draws = Draws(7);
    let products: Vec<_> = (1..=PRODUCTS).map(|id| product(&mut draws, id)).collect();
    let customers: Vec<_> = (1..=CUSTOMERS).map(|id| customer(&mut draws, id)).collect();
    let orders: Vec<_> = (0..ORDERS)
        .map(|index| order(&mut draws, index, &products, &customers))
        .collect();
    let invoices = orders.iter().filter_map(invoice).collect();
    let shipments = orders.iter().filter_map(shipment).collect();
    Stock {
        products,
        customers,
        orders,
        invoices,
        shipments,
    }
}

fn product(draws: &mut Draws, id: u64) -> Product {
    let (thing, category) = draws.pick(&THINGS).unwrap_or_default();
    let maker = draws.name(&MAKERS);
    let currency = match id % 8 {
        5 => Currency::Usd,
        6 => Currency::Gbp,
        7 => Currency::Jpy,
        _ => Currency::Eur,
    };
    let step = if currency == Currency::Jpy { 100 } else { 50 };
    let mut tags: Vec<_> = [draws.name(&TAGS), draws.name(&TAGS)]
        .map(str::to_owned)
        .into();
    tags.dedup();
    Product {
        id,
        sku: format!(
            "{}-{id:04}",
            category.get(..3).unwrap_or("xxx").to_ascii_uppercase()
        ),
        name: format!("{maker} {thing}"),
        description: (!id.is_multiple_of(9)).then(|| {
            format!("{thing} by {maker}, made to be repaired. Ships in recycled cardboard.")
        }),
        category: category.to_owned(),
        price: Money {
            amount: (20 + draws.below(900)) * step - u64::from(currency != Currency::Jpy),
            currency,
        },
        stock: draws.below(80),
        tags,
        attributes: Attributes {
            colour: Some(draws.name(&COLOURS).to_owned()),
            material: (!id.is_multiple_of(5)).then(|| draws.name(&MATERIALS).to_owned()),
        },
        version: 1 + draws.below(4),
        created_at: moment(FIRST_ORDER_SECONDS - (id + 10) * DAY_SECONDS),
        discontinued_on: id
            .is_multiple_of(31)
            .then(|| date(FIRST_ORDER_SECONDS / DAY_SECONDS + id)),
        reviews: reviews(draws, id),
    }
}

fn reviews(draws: &mut Draws, product_id: u64) -> Vec<Review> {
    (1..=draws.below(5))
        .map(|index| Review {
            id: product_id * 10 + index,
            stars: 1 + draws.below(5),
            title: draws.name(&REVIEW_TITLES).to_owned(),
            text: (!index.is_multiple_of(2)).then(|| "Used it every day for a month.".to_owned()),
            author: draws.name(&GIVEN).to_owned(),
            created_at: moment(FIRST_ORDER_SECONDS + draws.below(200) * DAY_SECONDS),
        })
        .collect()
}

fn address(draws: &mut Draws) -> Address {
    let (city, postal_code, country) =
        draws
            .pick(&CITIES)
            .unwrap_or(("Utrecht", "3511 AB", Country::Nl));
    Address {
        street: format!("{} {}", draws.name(&STREETS), 1 + draws.below(180)),
        city: city.to_owned(),
        postal_code: postal_code.to_owned(),
        country,
    }
}

fn customer(draws: &mut Draws, id: u64) -> Customer {
    let (given, family) = (draws.name(&GIVEN), draws.name(&FAMILY));
    Customer {
        id,
        name: format!("{given} {family}"),
        // Reserved for examples: no mail can reach anybody.
        email: format!("customer{id}@shop.example"),
        phone: (!id.is_multiple_of(3)).then(|| format!("+31 20 555 {id:04}")),
        segment: match id % 10 {
            0 => Segment::Wholesale,
            7 | 8 => Segment::Business,
            _ => Segment::Consumer,
        },
        newsletter: draws.below(2) == 1,
        locked: id == LOCKED_CUSTOMER_ID || id.is_multiple_of(67),
        address: address(draws),
        created_at: moment(FIRST_ORDER_SECONDS - id * DAY_SECONDS / 2),
    }
}

/// The line of an order for some pieces of a product.
pub(super) fn line(line_no: u64, product: &Product, quantity: u64) -> Line {
    Line {
        number: line_no,
        product_id: product.id,
        sku: product.sku.clone(),
        name: product.name.clone(),
        quantity,
        unit_price: product.price,
        amount: Money {
            amount: product.price.amount.saturating_mul(quantity),
            currency: product.price.currency,
        },
    }
}

fn order(draws: &mut Draws, index: u64, products: &[Product], customers: &[Customer]) -> Order {
    let id = FIRST_ORDER_ID + index;
    let created = FIRST_ORDER_SECONDS + index * 36_000 + draws.below(30_000);
    let status = order_status(draws, index);
    let customer_id = 1 + draws.below(customers.len() as u64);
    let currency = draws.pick(Currency::ALL).unwrap_or(Currency::Eur);
    let priced: Vec<_> = products
        .iter()
        .filter(|product| product.price.currency == currency)
        .collect();
    let lines: Vec<_> = (1..=1 + draws.below(4))
        .filter_map(|line_no| {
            let product = draws.pick(&priced)?;
            Some(line(line_no, product, 1 + draws.below(5)))
        })
        .collect();
    let mut order = Order {
        id,
        customer_id,
        status,
        lines,
        total: Money {
            amount: 0,
            currency,
        },
        shipping_address: address(draws),
        gift_message: id.is_multiple_of(17).then(|| "Happy birthday!".to_owned()),
        cancel_reason: None,
        created_at: moment(created),
        history: history(created, status),
        notes: id
            .is_multiple_of(23)
            .then(|| Note {
                number: 1,
                author: "warehouse".to_owned(),
                text: "Customer asked for a delivery after 17:00.".to_owned(),
                written_at: moment(created + 3_600),
            })
            .into_iter()
            .collect(),
        idempotency_key: None,
    };
    order.recount();
    order
}

/// Old orders are delivered, young ones on their way; the first six show each status once.
fn order_status(draws: &mut Draws, index: u64) -> OrderStatus {
    if let Some(status) = usize::try_from(index)
        .ok()
        .and_then(|index| OrderStatus::ALL.get(index))
    {
        return *status;
    }
    if draws.below(12) == 0 {
        return OrderStatus::Cancelled;
    }
    match index * 10 / ORDERS {
        0..=6 => OrderStatus::Delivered,
        7 => OrderStatus::Shipped,
        8 => OrderStatus::Packed,
        _ => draws
            .pick(&[OrderStatus::Pending, OrderStatus::Paid])
            .unwrap_or(OrderStatus::Pending),
    }
}

fn history(created: u64, status: OrderStatus) -> Vec<Event> {
    let steps: &[&str] = match status {
        OrderStatus::Pending => &["placed"],
        OrderStatus::Paid => &["placed", "paid"],
        OrderStatus::Packed => &["placed", "paid", "packed"],
        OrderStatus::Shipped => &["placed", "paid", "packed", "handed to the carrier"],
        OrderStatus::Delivered => &[
            "placed",
            "paid",
            "packed",
            "handed to the carrier",
            "delivered",
        ],
        OrderStatus::Cancelled => &["placed", "cancelled"],
    };
    (0u64..)
        .zip(steps)
        .map(|(index, what)| Event {
            at: moment(created + index * 7 * 3_600),
            what: (*what).to_owned(),
        })
        .collect()
}

fn invoice(order: &Order) -> Option<Invoice> {
    let status = match order.status {
        OrderStatus::Cancelled => return None,
        OrderStatus::Pending if order.id.is_multiple_of(2) => InvoiceStatus::Overdue,
        OrderStatus::Pending => InvoiceStatus::Open,
        _ if order.id.is_multiple_of(29) => InvoiceStatus::Void,
        _ => InvoiceStatus::Paid,
    };
    let issued_on = order.created_at.get(..10).unwrap_or_default().to_owned();
    let issued_day = (FIRST_ORDER_SECONDS + (order.id - FIRST_ORDER_ID) * 36_000) / DAY_SECONDS;
    let paid = status == InvoiceStatus::Paid;
    Some(Invoice {
        id: format!("INV-{}", order.id),
        order_id: order.id,
        customer_id: order.customer_id,
        status,
        total: order.total,
        due_on: date(issued_day + 30),
        paid_on: paid.then(|| issued_on.clone()),
        payment_method: paid.then_some(if order.id.is_multiple_of(3) {
            PaymentMethod::BankTransfer
        } else {
            PaymentMethod::Card
        }),
        issued_on,
        reminded_at: None,
    })
}

fn shipment(order: &Order) -> Option<Shipment> {
    let status = match order.status {
        OrderStatus::Packed => ShipmentStatus::LabelCreated,
        OrderStatus::Shipped => ShipmentStatus::InTransit,
        OrderStatus::Delivered if order.id.is_multiple_of(41) => ShipmentStatus::Lost,
        OrderStatus::Delivered => ShipmentStatus::Delivered,
        _ => return None,
    };
    let carrier = match order.id % 3 {
        0 => Carrier::Nordpost,
        1 => Carrier::Kurye,
        _ => Carrier::Parcelline,
    };
    let pieces = order.lines.iter().map(|line| line.quantity).sum::<u64>();
    Some(Shipment {
        id: format!("SHP-{}", order.id),
        order_id: order.id,
        carrier,
        status,
        tracking_code: format!(
            "{}{:08}",
            &carrier.as_str().to_ascii_uppercase()[..2],
            order.id * 7_919
        ),
        weight_grams: 350 + pieces * 420,
        created_at: order.created_at.clone(),
        events: order.history.iter().skip(2).cloned().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_is_the_same_every_time_and_large_enough() {
        let (one, two) = (stock(), stock());
        assert_eq!(
            serde_json::to_string(&one.orders).unwrap(),
            serde_json::to_string(&two.orders).unwrap()
        );
        let rows = one.products.len() + one.customers.len() + one.orders.len();
        assert!(rows > 900, "{rows}");
        assert!(one.invoices.len() > 400 && one.shipments.len() > 400);
    }

    #[test]
    fn orders_add_up_and_hold_one_currency() {
        let stock = stock();
        for order in &stock.orders {
            assert!(!order.lines.is_empty(), "order {}", order.id);
            let sum: u64 = order.lines.iter().map(|line| line.amount.amount).sum();
            assert_eq!(order.total.amount, sum);
            assert!(
                order
                    .lines
                    .iter()
                    .all(|line| line.amount.currency == order.total.currency)
            );
            assert!(order.id <= LAST_NUMBER);
        }
    }

    #[test]
    fn each_status_is_there_under_a_known_id() {
        let stock = stock();
        for (order, status) in stock.orders.iter().zip(OrderStatus::ALL) {
            assert_eq!(order.status, *status);
        }
        assert!(
            stock
                .customers
                .iter()
                .any(|row| row.id == LOCKED_CUSTOMER_ID && row.locked)
        );
    }
}
