//! The closed vocabularies of the shop: statuses, currencies, carriers, reasons, sort orders.
//!
//! Owns: their wire spellings. Must never decide what follows from a status: the desks do.

use serde::Serialize;

/// A value out of a closed list, known by its wire spelling.
pub(super) trait Word: Copy + PartialEq + 'static {
    /// Every value, in the order documents list them.
    const ALL: &'static [Self];

    /// The wire spelling.
    fn as_str(self) -> &'static str;

    /// The value of a wire spelling.
    fn of(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|word| word.as_str() == text)
    }

    /// Every spelling, for a sentence.
    fn choices() -> String {
        let all: Vec<_> = Self::ALL.iter().map(|word| word.as_str()).collect();
        all.join(", ")
    }
}

macro_rules! words {
    ($($(#[doc = $doc:literal])+ $name:ident { $($variant:ident => $text:literal,)+ })+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        pub(super) enum $name { $(#[serde(rename = $text)] $variant,)+ }

        impl Word for $name {
            const ALL: &'static [Self] = &[$(Self::$variant,)+];

            fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    )+};
}

words! {
    /// ISO 4217 codes of the currencies the shop sells in.
    Currency { Eur => "EUR", Usd => "USD", Gbp => "GBP", Jpy => "JPY", }

    /// ISO 3166 codes of the countries the shop ships to.
    Country {
        Nl => "NL", De => "DE", Fr => "FR", Gb => "GB", Us => "US", Tr => "TR", Jp => "JP", Se => "SE",
    }

    /// Where an order stands.
    OrderStatus {
        Pending => "pending", Paid => "paid", Packed => "packed", Shipped => "shipped",
        Delivered => "delivered", Cancelled => "cancelled",
    }

    /// What kind of buyer a customer is.
    Segment { Consumer => "consumer", Business => "business", Wholesale => "wholesale", }

    /// Where an invoice stands.
    InvoiceStatus { Open => "open", Overdue => "overdue", Paid => "paid", Void => "void", }

    /// How an invoice was paid.
    PaymentMethod { Card => "card", BankTransfer => "bank_transfer", Cash => "cash", }

    /// Who carries a parcel.
    Carrier { Nordpost => "nordpost", Kurye => "kurye", Parcelline => "parcelline", }

    /// Where a parcel is.
    ShipmentStatus {
        LabelCreated => "label_created", InTransit => "in_transit", Delivered => "delivered", Lost => "lost",
    }

    /// Why an order is cancelled.
    CancelReason {
        ChangedMind => "changed_mind", FoundCheaper => "found_cheaper", TooSlow => "too_slow", Fraud => "fraud",
    }

    /// The order of a product list.
    ProductSort { Name => "name", Price => "price", Stock => "stock", Newest => "newest", }

    /// The order of an order list.
    OrderSort { Newest => "newest", Oldest => "oldest", Total => "total", }

    /// What an export is written as.
    ExportFormat { Json => "json", Csv => "csv", Xlsx => "xlsx", }

    /// What a sales report counts by.
    ReportGroup { Month => "month", Country => "country", Category => "category", Currency => "currency", }

    /// What a search looks through.
    SearchKind { Product => "product", Customer => "customer", Order => "order", }
}
