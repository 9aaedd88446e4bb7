//! Proves, for every input at once, that no limb of the lane arithmetic overflows and that products,
//! squares and carries have the right value.
//!
//! [`Bounded`] is a [`Vector`] whose numbers are intervals, each with a linear form over the inputs,
//! so the engines' own generic source is what runs. The three operations that every other is built
//! of are proved once, for all tight inputs ([`TIGHT`]). Points and kernels then run on what was
//! proved, and every call asks again for tight inputs. `canonical` decides by value, which intervals
//! cannot follow: its result is compared at the corners of every limb with numbers of 128 bits.
//! `ScalarVector` and `Zmm` compute the operations that `Bounded` bounds: `tests.rs` compares them.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use super::alone;
use super::each::{self, Claims, ROWS};
use super::field::{self, Field, LIMBS, TWICE_P};
use super::point::{self, Block, Niels, Point};
use super::vector::{BUCKET_WORDS, BucketRow, LANES, LOW_52, ScalarVector, Vector};

/// The largest limbs of a tight element. With limb 4 at most 2^48 − 2 its value is below 2p.
const TIGHT: [u64; LIMBS] = [LOW_52, LOW_52, LOW_52, LOW_52, (1 << 48) - 2];

/// What a linear form is made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Atom {
    One,
    /// A limb of an input.
    Limb(Input),
    /// The whole product of two limbs.
    Product(Input, Input),
    /// A form's number without its low bits.
    Above(usize, u32),
    /// The high 52 bits of the product of two forms' low 52 bits.
    High(usize, usize),
}

/// Which operand, and which of its limbs.
type Input = (u8, u8);
type Form = BTreeMap<Atom, i128>;

/// Equal forms have one number, so that what is cut off in one place is known again in another.
#[derive(Default)]
struct Forms {
    all: Vec<Form>,
    number_of: HashMap<Form, usize>,
}

thread_local! {
    static FORMS: RefCell<Forms> = RefCell::default();
}

fn form_number(mut form: Form) -> usize {
    form.retain(|_, factor| *factor != 0);
    FORMS.with_borrow_mut(|forms| {
        if let Some(number) = forms.number_of.get(&form) {
            return *number;
        }
        forms.all.push(form.clone());
        forms.number_of.insert(form, forms.all.len() - 1);
        forms.all.len() - 1
    })
}

fn form_of(number: usize) -> Form {
    FORMS.with_borrow(|forms| forms.all[number].clone())
}

fn atom(atom: Atom) -> Form {
    Form::from([(atom, 1)])
}

/// `one` plus `factor` times `other`.
fn combined(one: &Form, factor: i128, other: &Form) -> Form {
    let mut sum = one.clone();
    for (atom, times) in other {
        *sum.entry(*atom).or_default() += factor * times;
    }
    sum
}

/// The product, of a form and a constant or of two limbs: nothing else is multiplied.
fn product(one: &Form, other: &Form) -> Option<Form> {
    let constant = |form: &Form| match form.iter().next() {
        None => Some(0),
        Some((Atom::One, factor)) if form.len() == 1 => Some(*factor),
        Some(_) => None,
    };
    let limb = |form: &Form| match form.iter().next() {
        Some((Atom::Limb(input), 1)) if form.len() == 1 => Some(*input),
        _ => None,
    };
    if let Some(factor) = constant(one) {
        return Some(combined(&Form::new(), factor, other));
    }
    if let Some(factor) = constant(other) {
        return Some(combined(&Form::new(), factor, one));
    }
    let (a, b) = (limb(one)?, limb(other)?);
    Some(atom(Atom::Product(a.min(b), a.max(b))))
}

/// A number between `low` and `high` in every lane.
#[derive(Clone, Copy, Debug)]
struct Bounded {
    low: u64,
    high: u64,
    /// It, or a number that it was made of, may have left 64 bits.
    wrapped: bool,
    /// Its linear form; none after operations that have none.
    form: Option<usize>,
}

impl Bounded {
    fn between(low: u64, high: u64) -> Self {
        Self {
            low,
            high,
            wrapped: false,
            form: None,
        }
    }

    fn limb(operand: u8, index: usize, high: u64) -> Self {
        let index = u8::try_from(index).expect("five limbs");
        Self {
            form: Some(form_number(atom(Atom::Limb((operand, index))))),
            ..Self::between(0, high)
        }
    }

    fn with(self, form: Option<Form>) -> Self {
        Self {
            form: form.map(form_number),
            ..self
        }
    }

    fn after(self, others: &[Self]) -> Self {
        let wrapped = self.wrapped || others.iter().any(|other| other.wrapped);
        Self { wrapped, ..self }
    }

    fn any() -> Self {
        Self::between(0, u64::MAX)
    }

    fn forms(self, other: Self) -> Option<(Form, Form)> {
        Some((form_of(self.form?), form_of(other.form?)))
    }

    fn join(self, other: Self) -> Self {
        Self::between(self.low.min(other.low), self.high.max(other.high)).after(&[self, other])
    }

    /// All bits from the highest of `high` on may be set.
    fn bits(high: u64) -> Self {
        Self::between(0, u64::MAX.checked_shr(high.leading_zeros()).unwrap_or(0))
    }

    /// Without its low bits.
    fn shifted(self, bits: u32) -> Self {
        let form = self.form.map(|number| {
            if self.high >> bits == 0 {
                Form::new()
            } else {
                atom(Atom::Above(number, bits))
            }
        });
        Self::between(self.low >> bits, self.high >> bits)
            .with(form)
            .after(&[self])
    }

    /// Its low bits.
    fn cut(self, bits: u32) -> Self {
        if self.high >> bits == 0 {
            return self;
        }
        let above = self.shifted(bits);
        let form = self
            .forms(above)
            .map(|(whole, above)| combined(&whole, -(1 << bits), &above));
        Self::between(0, (1 << bits) - 1).with(form).after(&[self])
    }

    /// The low and the high 52 bits of the product of the low 52 bits.
    fn halves(self, other: Self) -> [Self; 2] {
        let (a, b) = (self.cut(52), other.cut(52));
        let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
        let half = |number: u128| u64::try_from(number >> 52).expect("a product has 104 bits");
        let (least, most) = (wide(a.low, b.low), wide(a.high, b.high));
        let whole = a.forms(b).and_then(|(a, b)| product(&a, &b));
        if half(most) == 0 {
            let bound = |number: u128| u64::try_from(number).expect("52 bits");
            let low = Self::between(bound(least), bound(most)).with(whole);
            let none = Self::between(0, 0).with(Some(Form::new()));
            return [low, none].map(|half| half.after(&[self, other]));
        }
        let high = whole.as_ref().and_then(|_| {
            let (a, b) = (a.form?, b.form?);
            Some(atom(Atom::High(a.min(b), a.max(b))))
        });
        let low = whole
            .zip(high.clone())
            .map(|(whole, high)| combined(&whole, -(1 << 52), &high));
        [
            Self::between(0, LOW_52).with(low),
            Self::between(half(least), half(most)).with(high),
        ]
        .map(|half| half.after(&[self, other]))
    }

    fn is_exact(self) -> bool {
        !self.wrapped && self.form.is_some()
    }
}

fn assert_tight(limbs: &[Bounded; LIMBS], whose: &str) {
    for (index, (limb, most)) in limbs.iter().zip(TIGHT).enumerate() {
        assert!(!limb.wrapped, "limb {index} of {whose} may have wrapped");
        assert!(
            limb.high <= most,
            "limb {index} of {whose} may be {:#x}, above {most:#x}",
            limb.high
        );
    }
}

fn tight() -> [Bounded; LIMBS] {
    TIGHT.map(|most| Bounded::between(0, most))
}

impl Vector for Bounded {
    fn splat(number: u64) -> Self {
        let form = combined(&Form::new(), i128::from(number), &atom(Atom::One));
        Self::between(number, number).with(Some(form))
    }
    fn load(numbers: &[u64; LANES]) -> Self {
        let [low, high] =
            [numbers.iter().min(), numbers.iter().max()].map(|one| one.map_or(0, |it| *it));
        Self::between(low, high)
    }
    fn widen(numbers: &[u16; LANES]) -> Self {
        Self::load(&numbers.map(u64::from))
    }
    fn store(self, numbers: &mut [u64; LANES]) {
        assert!(!self.wrapped, "a number that is stored may have wrapped");
        *numbers = [self.high; LANES];
        numbers[0] = self.low;
    }
    fn plus(self, other: Self) -> Self {
        let sum = match (
            self.low.checked_add(other.low),
            self.high.checked_add(other.high),
        ) {
            (Some(low), Some(high)) => Self::between(low, high),
            _ => Self {
                wrapped: true,
                ..Self::any()
            },
        };
        let form = self
            .forms(other)
            .map(|(one, other)| combined(&one, 1, &other));
        sum.with(form).after(&[self, other])
    }
    fn minus(self, other: Self) -> Self {
        let difference = match (
            self.low.checked_sub(other.high),
            self.high.checked_sub(other.low),
        ) {
            (Some(low), Some(high)) => Self::between(low, high),
            _ => Self {
                wrapped: true,
                ..Self::any()
            },
        };
        let form = self
            .forms(other)
            .map(|(one, other)| combined(&one, -1, &other));
        difference.with(form).after(&[self, other])
    }
    fn and(self, other: Self) -> Self {
        let (number, mask) = if other.low == other.high {
            (self, other)
        } else {
            (other, self)
        };
        let bits = mask.high.trailing_ones();
        if mask.low == mask.high && mask.high.count_ones() == bits && bits < u64::BITS {
            return number.cut(bits).after(&[mask]);
        }
        Self::between(0, self.high.min(other.high)).after(&[self, other])
    }
    fn or(self, other: Self) -> Self {
        Self::bits(self.high | other.high).after(&[self, other])
    }
    fn xor(self, other: Self) -> Self {
        self.or(other)
    }
    /// Bits that leave at the top are meant to: only `from_words` shifts so, and cuts afterwards.
    fn left<const BITS: u32>(self) -> Self {
        let most = if self.high.leading_zeros() >= BITS {
            self.high << BITS
        } else {
            u64::MAX
        };
        Self::between(0, most).after(&[self])
    }
    fn right<const BITS: u32>(self) -> Self {
        self.shifted(BITS)
    }
    fn right_each(self, counts: Self) -> Self {
        let [least, most] = [counts.low, counts.high].map(|count| count.min(63));
        Self::between(self.low >> most, self.high >> least).after(&[self, counts])
    }
    fn rotate_right<const BITS: i32>(self) -> Self {
        Self::any().after(&[self])
    }
    fn plus_low(self, a: Self, b: Self) -> Self {
        let [low, _] = a.halves(b);
        self.plus(low)
    }
    fn plus_high(self, a: Self, b: Self) -> Self {
        let [_, high] = a.halves(b);
        self.plus(high)
    }
    /// Any lane may be of either.
    fn blend(self, _: u8, other: Self) -> Self {
        self.join(other)
    }
    fn equal(self, _: Self) -> u8 {
        0
    }
    fn below(self, _: Self) -> u8 {
        0
    }
    fn rotate_lanes<const BY: i32>(self) -> Self {
        self
    }
    /// Whatever the digits are, it is some row.
    fn gather(rows: &[BucketRow], _: Self) -> [Self; BUCKET_WORDS] {
        std::array::from_fn(|word| {
            let loaded = rows.iter().map(|row| Self::load(&row.0[word]));
            loaded
                .reduce(Self::join)
                .expect("a lane needs a row to read")
        })
    }
    fn scatter(rows: &mut [BucketRow], _: Self, words: [Self; BUCKET_WORDS]) {
        for row in rows {
            for (place, word) in row.0.iter_mut().zip(words) {
                Self::load(place).join(word).store(place);
            }
        }
    }
    fn product(a: &[Self; LIMBS], b: &[Self; LIMBS]) -> [Self; LIMBS] {
        assert_tight(a, "a factor");
        assert_tight(b, "a factor");
        tight()
    }
    fn square(a: &[Self; LIMBS]) -> [Self; LIMBS] {
        assert_tight(a, "what is squared");
        tight()
    }
    fn carry(limbs: [Self; LIMBS]) -> [Self; LIMBS] {
        for (index, limb) in limbs.iter().enumerate() {
            assert!(
                !limb.wrapped,
                "limb {index} of what is carried may have wrapped"
            );
            assert!(
                limb.high <= CARRIED,
                "limb {index} of what is carried is too large: {limb:x?}"
            );
        }
        tight()
    }
}

/// The largest limb that [`field::carry`] takes.
const CARRIED: u64 = (1 << 60) - 1;

/// p, limb by limb.
const P: [u64; LIMBS] = [LOW_52 - 18, LOW_52, LOW_52, LOW_52, (1 << 47) - 1];

/// A number in limbs of 52 bits that may have any sign and size: 2^260 is 608 modulo p.
type Wide = [i128; LIMBS];

/// The limbs of its one representative below p.
fn reduced(mut limbs: Wide) -> [u64; LIMBS] {
    // Each turn leaves at most 2^80 times 19 of what is above bit 255; the fourth leaves nothing.
    for _ in 0..4 {
        for index in 0..LIMBS - 1 {
            let above = limbs[index].div_euclid(1 << 52);
            limbs[index] -= above << 52;
            limbs[index + 1] += above;
        }
        let above = limbs[LIMBS - 1].div_euclid(1 << 47);
        limbs[LIMBS - 1] -= above << 47;
        limbs[0] += 19 * above;
    }
    let number = limbs.map(|limb| u64::try_from(limb).expect("it is reduced"));
    if number[1..] == P[1..] && number[0] >= P[0] {
        return [number[0] - P[0], 0, 0, 0, 0];
    }
    number
}

/// Adds `factor` times 2^(52 · `place`), modulo p.
fn add_at(number: &mut Wide, place: usize, factor: i128) {
    if place < LIMBS {
        number[place] += factor;
    } else {
        add_at(number, place - LIMBS, 608 * factor);
    }
}

/// Whether five limbs have the value of `expected` (atom, place, factor) modulo p, whatever the inputs are.
fn has_value(limbs: &[Bounded; LIMBS], expected: &[(Atom, usize, i128)]) -> bool {
    if !limbs.iter().all(|limb| limb.is_exact()) {
        return false;
    }
    let mut factors: BTreeMap<Atom, Wide> = BTreeMap::new();
    for (place, limb) in limbs.iter().enumerate() {
        for (atom, factor) in form_of(limb.form.expect("it is exact")) {
            factors.entry(atom).or_default()[place] += factor;
        }
    }
    for (atom, place, factor) in expected {
        add_at(factors.entry(*atom).or_default(), *place, -factor);
    }
    factors
        .into_values()
        .all(|factor| reduced(factor) == [0; LIMBS])
}

fn input(operand: u8, most: [u64; LIMBS]) -> [Bounded; LIMBS] {
    std::array::from_fn(|index| Bounded::limb(operand, index, most[index]))
}

/// Every product of a limb of operand `a` and one of operand `b`, at its place.
fn products(a: u8, b: u8) -> Vec<(Atom, usize, i128)> {
    let mut all = Vec::new();
    for i in 0..5 {
        for j in 0..5 {
            let (one, other) = ((a, i), (b, j));
            let atom = Atom::Product(one.min(other), one.max(other));
            all.push((atom, usize::from(i + j), 1));
        }
    }
    all
}

fn limbs_of(operand: u8) -> Vec<(Atom, usize, i128)> {
    (0..5)
        .map(|index| (Atom::Limb((operand, index)), usize::from(index), 1))
        .collect()
}

#[test]
fn a_product_of_tight_elements_is_tight_and_has_their_product_as_value() {
    let made = field::product(&input(0, TIGHT), &input(1, TIGHT));
    assert_tight(&made, "a product");
    assert!(has_value(&made, &products(0, 1)));
}

#[test]
fn a_square_of_a_tight_element_is_tight_and_has_its_square_as_value() {
    let made = field::square(&input(0, TIGHT));
    assert_tight(&made, "a square");
    assert!(has_value(&made, &products(0, 0)));
}

#[test]
fn a_carry_of_limbs_below_2_60_is_tight_and_keeps_their_value() {
    let made = field::carry(input(0, [CARRIED; LIMBS]));
    assert_tight(&made, "a carry");
    assert!(has_value(&made, &limbs_of(0)));
    // What a difference adds before it subtracts is nothing modulo p, and no tight limb is larger.
    assert_eq!(reduced(TWICE_P.map(i128::from)), [0; LIMBS]);
    assert!(
        TWICE_P
            .iter()
            .zip(TIGHT)
            .all(|(enough, most)| *enough >= most)
    );
}

/// The proofs above can fail: each of these breaks one bound by the least that matters.
#[test]
fn what_breaks_a_bound_is_found() {
    let looser = |index: usize, most: u64| {
        let mut limbs = TIGHT;
        limbs[index] = most;
        limbs
    };
    for index in 0..LIMBS {
        let loose = input(0, looser(index, 1 << 52));
        let made = field::product(&loose, &input(1, TIGHT));
        assert!(
            !has_value(&made, &products(0, 1)),
            "limb {index} beyond what is multiplied"
        );
        let made = field::square(&loose);
        assert!(
            !has_value(&made, &products(0, 0)),
            "limb {index} beyond what is squared"
        );
    }
    let made = field::carry(input(0, [u64::MAX; LIMBS]));
    assert!(made.iter().any(|limb| limb.wrapped), "a carry of anything");
    let made = field::product(&input(0, TIGHT), &input(1, TIGHT));
    let mut other = products(0, 1);
    other[7].2 = 2;
    assert!(!has_value(&made, &other), "another value");
    let beyond = input(0, looser(4, (1 << 48) - 1));
    let least = Bounded::splat(TWICE_P[4]).minus(beyond[4]);
    assert!(least.wrapped, "2p less a limb of 2^48 − 1");
}

/// Elements of every tight value.
fn element() -> Field<Bounded> {
    Field(tight())
}

fn every_point() -> Point<Bounded> {
    Point {
        x: element(),
        y: element(),
        z: element(),
        t: element(),
    }
}

fn every_niels() -> Niels<Bounded> {
    Niels {
        sum: element(),
        difference: element(),
        product: element(),
    }
}

fn assert_points(point: &Point<Bounded>) {
    for coordinate in [point.x, point.y, point.z, point.t] {
        assert_tight(&coordinate.0, "a coordinate");
    }
}

/// Blocks and rows whose lanes hold the least and the largest limbs, so that loading one gives every tight one.
fn every_word<const N: usize>() -> [[u64; LANES]; N] {
    std::array::from_fn(|word| {
        let mut lanes = [TIGHT[word % LIMBS]; LANES];
        lanes[0] = 0;
        lanes
    })
}

fn assert_stored(words: &[[u64; LANES]], whose: &str) {
    for (index, word) in words.iter().enumerate() {
        let most = TIGHT[index % LIMBS];
        assert!(
            word.iter().all(|number| *number <= most),
            "word {index} of {whose}: {word:x?}"
        );
    }
}

#[test]
fn every_operation_of_elements_takes_and_gives_tight_ones() {
    let (a, b) = (element(), element());
    let made = [
        a.plus(b),
        a.minus(b),
        a.negated(),
        a.times(b),
        a.square(),
        a.squared(3),
        a.inverse(),
        a.canonical(),
        a.blend(1, b),
        a.rotate_lanes::<1>(),
        Field::zero(),
        Field::one(),
        Field::from_words([Bounded::any(); 4]),
    ];
    for (index, element) in made.iter().enumerate() {
        assert_tight(&element.0, &format!("operation {index}"));
    }
    let [one, other] = Field::power_root([a, b]);
    assert_tight(&one.0, "a root's power");
    assert_tight(&other.0, "a root's power");
    // Masks are computed without wrapping, too: `canonical` is what they stand on.
    let _ = (a.is_zero(), a.is_odd());
}

#[test]
fn every_operation_of_points_takes_and_gives_tight_ones() {
    let (point, niels) = (every_point(), every_niels());
    assert_points(&point.plus(&every_point()));
    assert_points(&point.plus_affine(&niels, 1));
    assert_points(&point.negated());
    assert_points(&point.doubled());
    assert_points(&point.doubled_often(3));
    assert_points(&point.blend(1, &every_point()));
    assert_points(&Point::neutral());
    let _ = point.is_small();
    for words in [point.to_niels(), Niels::new(element(), element())].map(Niels::store) {
        assert_stored(&words.0, "an affine point");
    }
    assert_stored(&Block::NEUTRAL.0, "the neutral element");
    for (x, y, _) in point::decompress([[Bounded::any(); 4]; 2]) {
        assert_tight(&x.0, "a decoded x");
        assert_tight(&y.0, "a decoded y");
    }
}

#[test]
fn the_kernels_stay_within_bounds_for_every_table_and_number() {
    let block = Block(every_word());
    let row = BucketRow(every_word());
    let scalars = [[u8::MAX; 32]; LANES];
    let claims = Claims {
        keys: &block,
        commitments: &block,
        responses: &scalars,
        challenges: &scalars,
    };
    let rows = [row; ROWS];
    let _ = each::each::<Bounded>(&claims, &rows);
    let spread: alone::Spread = [Box::new(rows), Box::new(rows)];
    let numbers = [[u64::from(u16::MAX); LANES]; 2];
    let sum = alone::combined::<Bounded>([&spread, &spread], [&numbers, &numbers]);
    assert_stored(&sum.0, "a sum");
    for half in alone::spread::<Bounded>(&block) {
        half.iter()
            .for_each(|row| assert_stored(&row.0[..3 * LIMBS], "a multiple"));
    }
    for row in each::table::<Bounded>(&block) {
        assert_stored(&row.0[..3 * LIMBS], "a row of a table");
    }
}

/// Values at which a limb is least, largest, or about to carry.
fn corners() -> Vec<[u64; LIMBS]> {
    let mut all = Vec::new();
    let ends = |most: u64| [0, 1, most];
    for a in [0, 1, 18, 19, LOW_52 - 19, LOW_52 - 18, LOW_52 - 17, LOW_52] {
        for b in ends(LOW_52) {
            for c in [0, LOW_52] {
                for d in ends(LOW_52) {
                    for e in [0, (1 << 47) - 1, 1 << 47, (1 << 48) - 2] {
                        all.push([a, b, c, d, e]);
                    }
                }
            }
        }
    }
    all
}

fn lanes_of(elements: &[[u64; LIMBS]]) -> [[u64; LANES]; LIMBS] {
    std::array::from_fn(|limb| std::array::from_fn(|lane| elements[lane % elements.len()][limb]))
}

#[test]
fn the_canonical_element_is_the_one_below_p_at_every_corner() {
    for elements in corners().chunks(LANES) {
        let element = Field::<ScalarVector>::load(&lanes_of(elements));
        let mut words = [[0; LANES]; LIMBS];
        element.canonical().store(&mut words);
        let (zero, odd) = (element.is_zero(), element.is_odd());
        for (lane, limbs) in elements.iter().enumerate() {
            let right = reduced(limbs.map(i128::from));
            assert_eq!(words.map(|word| word[lane]), right, "{limbs:x?}");
            assert_eq!(
                zero >> lane & 1 == 1,
                right == [0; LIMBS],
                "{limbs:x?} is zero"
            );
            assert_eq!(
                u64::from(odd >> lane & 1),
                right[0] & 1,
                "{limbs:x?} is odd"
            );
        }
    }
}

#[test]
fn words_are_cut_into_limbs_at_the_right_bits() {
    for bit in 0..256 {
        let mut words = [0_u64; 4];
        words[bit / 64] = 1 << (bit % 64);
        let mut limbs = [[0; LANES]; LIMBS];
        Field::<ScalarVector>::from_words(words.map(ScalarVector::splat)).store(&mut limbs);
        let mut right = [0; LIMBS];
        if bit < 255 {
            right[bit / 52] = 1 << (bit % 52);
        }
        assert_eq!(limbs.map(|limb| limb[0]), right, "bit {bit}");
    }
}

/// Of three vectors.
type Operation<V> = fn(V, V, V) -> V;

fn operations<V: Vector>() -> [Operation<V>; 12] {
    [
        |a, b, _| a.plus(b),
        |a, b, _| a.minus(b),
        |a, b, _| a.and(b),
        |a, b, _| a.or(b),
        |a, b, _| a.xor(b),
        |a, _, _| a.left::<12>(),
        |a, _, _| a.right::<52>(),
        |a, b, _| a.right_each(b.and(V::splat(63))),
        |a, b, c| a.plus_low(b, c),
        |a, b, c| a.plus_high(b, c),
        |a, _, _| a.and(V::splat(LOW_52)),
        |a, b, _| a.blend(0x55, b),
    ]
}

/// Checks the checker: whatever numbers lie in the intervals, the result lies in the interval that
/// [`Bounded`] gives, or the interval says that it may have wrapped.
#[test]
fn what_vectors_compute_lies_within_the_bounds() {
    let numbers = [
        0,
        1,
        18,
        LOW_52 - 1,
        LOW_52,
        LOW_52 + 1,
        1 << 60,
        u64::MAX - 1,
        u64::MAX,
    ];
    let pair = |one: usize, other: usize| {
        let mut lanes = [numbers[one % numbers.len()]; LANES];
        lanes[1] = numbers[other % numbers.len()];
        lanes
    };
    let all = 0..numbers.len();
    for (a, b) in all.clone().flat_map(|a| all.clone().map(move |b| (a, b))) {
        let loaded = [pair(a, b), pair(b, a + 1), pair(a + 2, b)];
        let bounds = loaded.map(|lanes| Bounded::load(&lanes));
        let concrete = loaded.map(|lanes| ScalarVector::load(&lanes));
        for (index, (bound, compute)) in operations().into_iter().zip(operations()).enumerate() {
            let bound = bound(bounds[0], bounds[1], bounds[2]);
            let mut lanes = [0; LANES];
            compute(concrete[0], concrete[1], concrete[2]).store(&mut lanes);
            let within = lanes
                .iter()
                .all(|lane| (bound.low..=bound.high).contains(lane));
            assert!(
                within,
                "operation {index} on {loaded:x?}: {lanes:x?} in {bound:x?}"
            );
            let wraps = match index {
                0 => (0..LANES).any(|lane| loaded[0][lane].checked_add(loaded[1][lane]).is_none()),
                1 => (0..LANES).any(|lane| loaded[0][lane] < loaded[1][lane]),
                _ => false,
            };
            assert!(
                bound.wrapped || !wraps,
                "operation {index} on {loaded:x?} wraps"
            );
        }
    }
}
