//! A caller's view of one generation: a decision for every audience, made once a request.

use crate::catalog::Security;

use super::Caller;

/// What is decided of one operation for one caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The caller may use it, as far as the documents say.
    Allow,
    /// The documents do not tell.
    Unknown,
    /// The caller's grant does not hold what every alternative asks.
    Deny,
}

impl Decision {
    /// The decision for a requirement and a caller (transport.md, "Visibility").
    ///
    /// An alternative that names scopes is covered when the caller's scopes are known and hold them all,
    /// not covered when they are known and do not; it is unknown when it names no scopes or the caller's
    /// are not known.
    pub fn of(security: &Security, caller: &Caller) -> Self {
        if security.is_open() {
            return Self::Allow;
        }
        let mut decision = Self::Deny;
        for alternative in &security.alternatives {
            let mut asked = alternative
                .iter()
                .flat_map(|scheme| &scheme.scopes)
                .peekable();
            match (&caller.scopes, asked.peek().is_some()) {
                (Some(held), true) => {
                    if asked.all(|scope| held.contains(scope)) {
                        return Self::Allow;
                    }
                }
                _ => decision = Self::Unknown,
            }
        }
        decision
    }
}

/// What happens to operations whose decision is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnUnknown {
    /// They are shown, marked `authUncertain`.
    #[default]
    Show,
    /// They are hidden, like denied ones.
    Hide,
}

/// One caller's decisions over a generation, by audience number.
///
/// Operations with equal requirements share an audience; the list is small however large the catalogue.
#[derive(Debug, Clone)]
pub struct View {
    decisions: Vec<Decision>,
    on_unknown: OnUnknown,
}

impl View {
    /// Decides every audience of a generation for one caller.
    pub fn new(audiences: &[Security], caller: &Caller, on_unknown: OnUnknown) -> Self {
        Self {
            decisions: audiences
                .iter()
                .map(|asked| Decision::of(asked, caller))
                .collect(),
            on_unknown,
        }
    }

    /// Whether operations of this audience are shown; one the generation does not have is not.
    pub fn shows(&self, audience: u32) -> bool {
        match self.decision(audience) {
            Decision::Allow => true,
            Decision::Unknown => self.on_unknown == OnUnknown::Show,
            Decision::Deny => false,
        }
    }

    /// Whether the caller's grant is known not to hold what operations of this audience ask.
    pub fn denies(&self, audience: u32) -> bool {
        self.decision(audience) == Decision::Deny
    }

    /// Which audiences are shown, in audience order: the clause the index filters by.
    pub fn shown(&self) -> Vec<bool> {
        (0..self.decisions.len())
            .map(|audience| u32::try_from(audience).is_ok_and(|audience| self.shows(audience)))
            .collect()
    }

    /// Lets something of an audience through, or not. The only way to make a [`Visible`].
    pub fn admit<T>(&self, audience: u32, item: T) -> Option<Visible<T>> {
        self.shows(audience).then(|| Visible {
            item,
            uncertain: self.decision(audience) == Decision::Unknown,
        })
    }

    fn decision(&self, audience: u32) -> Decision {
        usize::try_from(audience)
            .ok()
            .and_then(|at| self.decisions.get(at))
            .copied()
            .unwrap_or(Decision::Deny)
    }
}

/// Something the caller may see. Cards and definitions are rendered from nothing else.
#[derive(Debug, Clone, PartialEq)]
pub struct Visible<T> {
    item: T,
    uncertain: bool,
}

impl<T> Visible<T> {
    /// Whether the decision was unknown: the answer carries `authUncertain`.
    pub fn auth_uncertain(&self) -> bool {
        self.uncertain
    }

    /// What may be seen.
    pub fn get(&self) -> &T {
        &self.item
    }

    /// Something else of the same operation, under the same decision.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Visible<U> {
        Visible {
            item: change(self.item),
            uncertain: self.uncertain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::SchemeUse;

    fn security(alternatives: &[&[(&str, &[&str])]]) -> Security {
        let alternatives = alternatives.iter().map(|schemes| {
            let uses = schemes.iter().map(|(scheme, scopes)| SchemeUse {
                scheme: (*scheme).to_owned(),
                scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
            });
            uses.collect()
        });
        Security {
            alternatives: alternatives.collect(),
        }
    }

    fn caller(scopes: &[&str]) -> Caller {
        Caller {
            scopes: Some(scopes.iter().map(|&scope| scope.to_owned()).collect()),
        }
    }

    #[test]
    fn decisions_follow_the_table() {
        let anonymous = Caller::anonymous();
        let open = security(&[]);
        let optional = security(&[&[("oauth", &["read"])], &[]]);
        let scoped = security(&[&[("oauth", &["read", "write"])]]);
        let key = security(&[&[("key", &[])]]);
        let either = security(&[&[("oauth", &["admin"])], &[("key", &[])]]);
        for (asked, who, want) in [
            (&open, &anonymous, Decision::Allow),
            (&optional, &caller(&[]), Decision::Allow),
            (&scoped, &anonymous, Decision::Unknown),
            (&scoped, &caller(&["read"]), Decision::Deny),
            (&scoped, &caller(&["write", "read", "x"]), Decision::Allow),
            (&key, &caller(&["read"]), Decision::Unknown),
            (&either, &caller(&["read"]), Decision::Unknown),
            (&either, &caller(&["admin"]), Decision::Allow),
        ] {
            assert_eq!(Decision::of(asked, who), want, "{asked:?} {who:?}");
        }
    }

    #[test]
    fn hidden_and_absent_audiences_admit_nothing() {
        let audiences = [
            security(&[]),
            security(&[&[("oauth", &["a"])]]),
            security(&[&[("key", &[])]]),
        ];
        let view = View::new(&audiences, &caller(&["b"]), OnUnknown::Show);
        assert_eq!(view.shown(), [true, false, true]);
        assert!(view.admit(1, ()).is_none());
        assert!(view.admit(9, ()).is_none());
        assert!(!view.admit(0, ()).unwrap().auth_uncertain());
        assert!(view.admit(2, ()).unwrap().auth_uncertain());
        let strict = View::new(&audiences, &caller(&["b"]), OnUnknown::Hide);
        assert_eq!(strict.shown(), [true, false, false]);
    }
}
