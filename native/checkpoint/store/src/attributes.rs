//! Reads, writes and compares a file's attributes: permissions, owner, time, extended attributes.
//!
//! Records, `CURRENT` and archives hold them, so a rollback never widens rights: a band that is
//! gone in live comes back as it was. Bands that older versions recorded have no attributes; they
//! come back readable only for the user who restores. A change of permissions alone is a change of
//! a band without pages; a change of its time alone is none.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::bytes::{Reader, hex, put_bytes, put_count, put_u32, unhex_all};

/// The extended attribute that is a file's access list on Linux.
pub(crate) const ACCESS_LIST: &[u8] = b"system.posix_acl_access";
/// The text for attributes that are not known.
const UNKNOWN: &str = "-";

/// The attributes of a band, if they are known.
pub(crate) type KnownAttributes = Option<Arc<Attributes>>;

/// What a file has besides its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Its permissions: twelve bits.
    pub mode: u32,
    /// The user it belongs to.
    pub owner: u32,
    /// Its group.
    pub group: u32,
    /// The last change of its contents, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Its extended attributes, with its access list.
    pub extended: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Attributes {
    /// Returns whether everything but the time is equal.
    #[must_use]
    pub fn same_rights(&self, other: &Self) -> bool {
        (self.mode, self.owner, self.group) == (other.mode, other.owner, other.group)
            && self.extended == other.extended
    }

    /// Returns the attributes that an archive may hold, since it may come from anybody: no set-user-ID
    /// or set-group-ID, and of the system's extended attributes only the access list.
    pub(crate) fn for_archive(&self) -> Self {
        let mut kept = self.clone();
        kept.mode &= 0o777;
        kept.extended
            .retain(|name, _| name.starts_with(b"user.") || name == ACCESS_LIST);
        kept
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        for number in [self.mode, self.owner, self.group] {
            put_u32(out, number);
        }
        out.extend_from_slice(&self.modified_ns.to_le_bytes());
        put_count(out, self.extended.len());
        for (name, value) in &self.extended {
            put_bytes(out, name);
            put_bytes(out, value);
        }
    }

    /// Reads what [`Attributes::put`] wrote.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let (mode, owner, group) = (reader.u32()?, reader.u32()?, reader.u32()?);
        let modified_ns = i64::from_le_bytes(reader.array()?);
        let count = reader.count(8)?;
        let mut extended = BTreeMap::new();
        for _ in 0..count {
            let (name, value) = (reader.bytes()?.to_vec(), reader.bytes()?.to_vec());
            let last = extended.last_key_value();
            if last.is_some_and(|(last, _): (&Vec<u8>, _)| *last >= name) {
                return None;
            }
            extended.insert(name, value);
        }
        let read = Self {
            mode,
            owner,
            group,
            modified_ns,
            extended,
        };
        read.is_sound().then_some(read)
    }

    fn is_sound(&self) -> bool {
        // The system takes the greatest number as "no change".
        let ids_are_valid = self.owner != u32::MAX && self.group != u32::MAX;
        let is_name = |name: &Vec<u8>| !name.is_empty() && !name.contains(&0);
        self.mode <= 0o7777 && ids_are_valid && self.extended.keys().all(is_name)
    }
}

/// Returns whether a file's attributes other than its time have changed since the last epoch.
pub(crate) fn have_changed(head: Option<&Attributes>, now: Option<&Attributes>) -> bool {
    match (head, now) {
        (Some(head), Some(now)) => !head.same_rights(now),
        (None, Some(_)) => true,
        (_, None) => false,
    }
}

/// Formats attributes as one word: permissions (octal), owner, group, time, then each extended
/// attribute in hexadecimal digits.
pub(crate) fn word(known: Option<&Attributes>) -> String {
    let Some(it) = known else {
        return UNKNOWN.to_owned();
    };
    let mut word = format!("{:o}:{}:{}:{}", it.mode, it.owner, it.group, it.modified_ns);
    for (name, value) in &it.extended {
        let _ = write!(word, ":{}={}", hex(name), hex(value)); // to a string: it cannot fail
    }
    word
}

/// Parses what [`word`] wrote. The caller checks that [`word`] would write it the same way.
pub(crate) fn of_word(word: &str) -> Option<KnownAttributes> {
    if word == UNKNOWN {
        return Some(None);
    }
    let mut parts = word.split(':');
    let mode = u32::from_str_radix(parts.next()?, 8).ok()?;
    let (owner, group) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let modified_ns = parts.next()?.parse().ok()?;
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        Some((unhex_all(name)?, unhex_all(value)?))
    };
    let read = Attributes {
        mode,
        owner,
        group,
        modified_ns,
        extended: parts.map(pair).collect::<Option<_>>()?,
    };
    read.is_sound().then(|| Some(Arc::new(read)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn some() -> impl Strategy<Value = Attributes> {
        let bytes = || prop::collection::vec(1_u8.., 1..9);
        let extended = prop::collection::btree_map(bytes(), bytes(), 0..3);
        let numbers = (0_u32..=0o7777, 0..u32::MAX, 0..u32::MAX, any::<i64>());
        (numbers, extended).prop_map(|((mode, owner, group, modified_ns), extended)| Attributes {
            mode,
            owner,
            group,
            modified_ns,
            extended,
        })
    }

    proptest! {
        /// Attributes are the same after writing and reading them, as bytes and as a word.
        #[test]
        fn attributes_are_read_as_written(attributes in some()) {
            let mut bytes = Vec::new();
            attributes.put(&mut bytes);
            let mut reader = Reader(&bytes);
            prop_assert_eq!(Attributes::read(&mut reader), Some(attributes.clone()));
            prop_assert!(reader.0.is_empty());
            let read = of_word(&word(Some(&attributes))).expect("its own word");
            prop_assert_eq!(read.as_deref(), Some(&attributes));
        }
    }
}
