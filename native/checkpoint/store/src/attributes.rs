//! Reads, writes and compares a file's attributes: permissions, owner, time, extended attributes.
//!
//! Records, `CURRENT` and archives hold them, so a rollback never widens rights: a band that is
//! gone in live comes back as it was, and one that is there by the rule of
//! [`Attributes::where_live_has`]. Bands that older versions recorded have no attributes; they
//! come back readable only for the user who restores. A change of permissions alone is a change of
//! a band without pages; a change of its time alone is none.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::bytes::{Reader, hex, put_bytes, put_count, put_u32, unhex_all};

/// The extended attribute that is a file's access list on Linux.
pub(crate) const ACCESS_LIST: &[u8] = b"system.posix_acl_access";
/// The owner's bits of a file's permissions.
pub(crate) const OWNERS_BITS: u32 = 0o700;
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

    /// Returns the attributes of a band of the past which had these, while live has a band of its name with `live`;
    /// a file that this process makes has `made`.
    ///
    /// The rule: nobody but the user who restores the band gets a right to it that he did not have then, or does not
    /// have now. If owner, group and access list are what they were, they stay, with the bits of the mode that both
    /// have. If group or access list differ, the band is for that owner alone, and if the owner differs, for the user
    /// who restores it. Attributes with which the system grants something (`security.`, such as capabilities) stay
    /// where both have them. All others come back.
    pub(crate) fn where_live_has(&self, live: &Self, made: &Self) -> Self {
        let mut kept = self.clone();
        kept.mode &= live.mode;
        kept.extended.retain(|name, value| {
            !name.starts_with(b"security.") || live.extended.get(name) == Some(value)
        });
        let same_owner = self.owner == live.owner;
        if same_owner && self.group == live.group && self.lists().eq(live.lists()) {
            return kept;
        }
        // No class of users is the same as then, so no bit of the others can stay.
        kept.mode &= OWNERS_BITS;
        kept.extended.retain(|name, _| !is_list(name));
        let heir = if same_owner { live } else { made };
        (kept.owner, kept.group) = (heir.owner, heir.group);
        kept
    }

    fn lists(&self) -> impl Iterator<Item = (&Vec<u8>, &Vec<u8>)> {
        self.extended.iter().filter(|(name, _)| is_list(name))
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

/// Returns whether an extended attribute is an access list, of whatever kind the filesystem has.
fn is_list(name: &[u8]) -> bool {
    name.starts_with(b"system.")
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

    const RESTORER: u32 = 0;
    /// Tags of entries of an access list (`linux/posix_acl.h`).
    const USER: u16 = 2;
    const GROUP: u16 = 8;
    const OWNING_GROUP: u16 = 4;

    /// A file whose owner, group and entries are of few ids, so that they often meet.
    fn file() -> impl Strategy<Value = Attributes> {
        let entry = (prop::sample::select(vec![USER, GROUP]), 1..4_u32);
        let entries = prop::collection::btree_map(entry, 0..8_u16, 1..4);
        let list = prop::option::of((entries, 0..8_u16));
        (0..=0o7777_u32, 1..4_u32, 1..4_u32, list).prop_map(|(mode, owner, group, list)| {
            let mut attributes = Attributes {
                mode,
                owner,
                group,
                ..Attributes::default()
            };
            if let Some((mut entries, owning_group)) = list {
                entries.insert((OWNING_GROUP, u32::MAX), owning_group);
                let mut value = 2_u32.to_le_bytes().to_vec();
                for ((tag, id), bits) in entries {
                    value.extend(tag.to_le_bytes());
                    value.extend(bits.to_le_bytes());
                    value.extend(id.to_le_bytes());
                }
                attributes.extended.insert(ACCESS_LIST.to_vec(), value);
            }
            attributes
        })
    }

    /// The rights of a user of one group, as acl(5) gives them: an owner can take any; an access list's mask is the
    /// group's bits of the mode.
    fn rights(file: &Attributes, user: u32, group: u32) -> u32 {
        let (groups_bits, others_bits) = (file.mode >> 3 & 7, file.mode & 7);
        if user == file.owner {
            return 7;
        }
        let Some(list) = file.extended.get(ACCESS_LIST) else {
            return if group == file.group {
                groups_bits
            } else {
                others_bits
            };
        };
        let entries = list[4..].as_chunks::<8>().0.iter().map(|entry| {
            let [t0, t1, b0, b1, id @ ..] = *entry;
            let (tag, bits) = (u16::from_le_bytes([t0, t1]), u16::from_le_bytes([b0, b1]));
            (tag, u32::from(bits), u32::from_le_bytes(id))
        });
        let mut groups = None;
        for (tag, bits, id) in entries {
            if tag == USER && id == user {
                return bits & groups_bits;
            }
            let owning = tag == OWNING_GROUP && group == file.group;
            if owning || tag == GROUP && group == id {
                groups = Some(groups.unwrap_or(0) | bits);
            }
        }
        groups.map_or(others_bits, |bits| bits & groups_bits)
    }

    proptest! {
        /// Whatever owner, group, mode and access list were and are, nobody gets a right that he did not have both
        /// times, except the user who restores.
        #[test]
        fn nobody_gets_a_right_that_he_did_not_have_then_and_now(then in file(), now in file(), same in 0..16_u8) {
            let mut now = now;
            // Two random files seldom have anything in common.
            for (bit, part) in ["owner", "group", "list", "mode"].into_iter().enumerate() {
                if same >> bit & 1 == 1 {
                    match part {
                        "owner" => now.owner = then.owner,
                        "group" => now.group = then.group,
                        "list" => now.extended.clone_from(&then.extended),
                        _ => now.mode = then.mode,
                    }
                }
            }
            let made = Attributes { mode: 0o600, owner: RESTORER, group: RESTORER, ..Attributes::default() };
            let back = then.where_live_has(&now, &made);
            for (user, group) in (1..5).flat_map(|user| (1..5).map(move |group| (user, group))) {
                let both = rights(&then, user, group) & rights(&now, user, group);
                let more = rights(&back, user, group) & !both;
                prop_assert_eq!(more, 0, "user {} of group {} of {:?}", user, group, back);
            }
            prop_assert_eq!(back.mode & !(then.mode & now.mode), 0);
            if then.same_rights(&now) {
                prop_assert_eq!(back, then, "nothing changed");
            }
        }

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
