//! Tokens of every kind that is refused, beside some that are right.

use openssl::ec::EcKey;
use openssl::pkey::Private;
use openssl::sign::Signer;
use openssl::x509::X509Name;
use serde_json::json;

use super::*;

const NOW: f64 = 1_700_000_000.0;

/// An issuer: its private key, and what a key set says of the public one.
struct Issuer {
    key: PKey<Private>,
    algorithm: &'static str,
    id: &'static str,
}

fn encoded(bytes: &[u8]) -> String {
    let text = openssl::base64::encode_block(bytes);
    text.replace('+', "-").replace('/', "_").replace('=', "")
}

impl Issuer {
    fn rsa(bits: u32, id: &'static str) -> Issuer {
        Issuer {
            key: PKey::from_rsa(Rsa::generate(bits).unwrap()).unwrap(),
            algorithm: "RS256",
            id,
        }
    }

    fn ec(id: &'static str) -> Issuer {
        let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
        Issuer {
            key: PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap(),
            algorithm: "ES256",
            id,
        }
    }

    fn in_set(&self) -> Value {
        match self.algorithm {
            "RS256" => {
                let rsa = self.key.rsa().unwrap();
                json!({"kty": "RSA", "kid": self.id, "use": "sig",
                    "n": encoded(&rsa.n().to_vec()), "e": encoded(&rsa.e().to_vec())})
            }
            _ => {
                let key = self.key.ec_key().unwrap();
                let (mut x, mut y) = (BigNum::new().unwrap(), BigNum::new().unwrap());
                let mut context = openssl::bn::BigNumContext::new().unwrap();
                let point = key.public_key();
                point
                    .affine_coordinates(key.group(), &mut x, &mut y, &mut context)
                    .unwrap();
                json!({"kty": "EC", "crv": "P-256", "kid": self.id,
                    "x": encoded(&x.to_vec()), "y": encoded(&y.to_vec())})
            }
        }
    }

    fn pem(&self) -> String {
        String::from_utf8(self.key.public_key_to_pem().unwrap()).unwrap()
    }

    /// Signs whatever the header says.
    fn sign(&self, header: &Value, claims: &Value) -> String {
        let signed = format!(
            "{}.{}",
            encoded(header.to_string().as_bytes()),
            encoded(claims.to_string().as_bytes())
        );
        let mut signer = Signer::new(MessageDigest::sha256(), &self.key).unwrap();
        let made = signer.sign_oneshot_to_vec(signed.as_bytes()).unwrap();
        let signature = match self.algorithm {
            "RS256" => made,
            _ => {
                let parts = EcdsaSig::from_der(&made).unwrap();
                let half = |n: &openssl::bn::BigNumRef| n.to_vec_padded(32).unwrap();
                [half(parts.r()), half(parts.s())].concat()
            }
        };
        format!("{signed}.{}", encoded(&signature))
    }

    fn token(&self, claims: &Value) -> String {
        self.sign(
            &json!({"typ": "JWT", "alg": self.algorithm, "kid": self.id}),
            claims,
        )
    }
}

fn claims() -> Value {
    claims_at(NOW)
}

fn claims_at(now: f64) -> Value {
    json!({"sub": "alice", "exp": now + 60.0, "nbf": now - 60.0, "mq": "app1",
        "iss": "https://issuer", "aud": ["others", "QM1"]})
}

fn tokens(text: &str, user_claim: &str) -> Result<Tokens, String> {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    std::fs::write(&keys, text).unwrap();
    Tokens::load(&TokenSettings {
        keys,
        user_claim: user_claim.to_owned(),
        issuer: "https://issuer".to_owned(),
        audience: "QM1".to_owned(),
    })
}

#[test]
fn a_trusted_issuers_tokens_name_their_users() {
    let issuers = [Issuer::rsa(2_048, "one"), Issuer::ec("two")];
    let set = json!({"keys": issuers.iter().map(Issuer::in_set).collect::<Vec<_>>()}).to_string();
    let pem: String = issuers.iter().map(Issuer::pem).collect();
    for text in [set, pem] {
        let by_subject = tokens(&text, "").unwrap();
        let by_claim = tokens(&text, "mq").unwrap();
        for issuer in &issuers {
            let token = issuer.token(&claims());
            assert_eq!(
                by_subject.user(token.as_bytes(), NOW),
                Ok("alice".to_owned())
            );
            assert_eq!(by_claim.user(token.as_bytes(), NOW), Ok("app1".to_owned()));
        }
    }
}

/// A certificate of an issuer, by its own hand, for these days from now on.
fn certificate(issuer: &Issuer, name: &str, days: [i64; 2]) -> String {
    let mut named = X509Name::builder().unwrap();
    named.append_entry_by_text("CN", name).unwrap();
    let named = named.build();
    let today = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let today = i64::try_from(today.as_secs()).unwrap();
    let at = |day: i64| Asn1Time::from_unix(today + day * 86_400).unwrap();
    let mut made = X509::builder().unwrap();
    made.set_subject_name(&named).unwrap();
    made.set_issuer_name(&named).unwrap();
    made.set_not_before(&at(days[0])).unwrap();
    made.set_not_after(&at(days[1])).unwrap();
    made.set_pubkey(&issuer.key).unwrap();
    made.sign(&issuer.key, MessageDigest::sha256()).unwrap();
    String::from_utf8(made.build().to_pem().unwrap()).unwrap()
}

/// One certificate that has expired, or is for later, shuts nobody out but whom its key has signed for.
#[test]
fn certificates_count_while_they_are_valid() {
    let [over, early, good] = ["over", "early", "good"].map(Issuer::ec);
    let certificates = [
        certificate(&over, "over", [-20, -10]),
        certificate(&good, "good", [-10, 10]),
        certificate(&early, "early", [10, 20]),
    ];
    let tokens_of = tokens(&certificates.concat(), "").unwrap();
    let user = |issuer: &Issuer, days: f64| {
        let at = now().unwrap() + days * 86_400.0;
        let token = issuer.token(&claims_at(at));
        tokens_of.user(token.as_bytes(), at)
    };
    let not_now = "the certificate of the key that has signed it is not valid now";
    assert_eq!(user(&good, 0.0), Ok("alice".to_owned()));
    assert_eq!(user(&over, 0.0), Err("no trusted key has signed it"));
    assert_eq!(user(&early, 0.0), Err(not_now));
    // Time goes by after the file was read.
    assert_eq!(user(&good, 12.0), Err(not_now));
    assert_eq!(user(&early, 12.0), Ok("alice".to_owned()));
    let [first, second] = tokens_of.not_valid() else {
        panic!("{:?}", tokens_of.not_valid());
    };
    assert!(first.contains("over") && second.contains("early"));
    let none = tokens(&certificates[0], "").unwrap();
    let refused = none.user(over.token(&claims()).as_bytes(), NOW);
    assert_eq!(refused, Err("no trusted key has signed it"));
    assert_eq!(none.not_valid().len(), 1);
}

#[test]
fn every_other_token_is_refused_and_told_why() {
    let (issuer, stranger) = (Issuer::rsa(2_048, "one"), Issuer::rsa(2_048, "one"));
    let tokens = tokens(&json!({"keys": [issuer.in_set()]}).to_string(), "").unwrap();
    let with = |change: fn(&mut Value)| {
        let mut claims = claims();
        change(&mut claims);
        issuer.token(&claims)
    };
    let header = |header: Value| issuer.sign(&header, &claims());
    let good = issuer.token(&claims());
    let (body, signature) = good.rsplit_once('.').unwrap();
    let none = format!(
        "{}.{}.",
        encoded(br#"{"alg":"none"}"#),
        encoded(claims().to_string().as_bytes())
    );
    // Signed by the public key as if it were a secret.
    let secret = PKey::hmac(issuer.pem().as_bytes()).unwrap();
    let mut signer = Signer::new(MessageDigest::sha256(), &secret).unwrap();
    let start = format!(
        "{}.{}",
        encoded(br#"{"alg":"HS256"}"#),
        encoded(claims().to_string().as_bytes())
    );
    signer.update(start.as_bytes()).unwrap();
    let confused = format!("{start}.{}", encoded(&signer.sign_to_vec().unwrap()));
    let changed = {
        let other = encoded(
            json!({"sub": "root", "exp": NOW + 60.0})
                .to_string()
                .as_bytes(),
        );
        let (head, _) = body.split_once('.').unwrap();
        format!("{head}.{other}.{signature}")
    };
    for (token, why) in [
        (stranger.token(&claims()), "no trusted key"),
        (changed, "no trusted key"),
        (format!("{body}."), "no trusted key"),
        (none, "neither RS256 nor ES256"),
        (confused, "neither RS256 nor ES256"),
        (header(json!({"alg": "ES256"})), "no trusted key"),
        (
            header(json!({"alg": "RS256", "kid": "other"})),
            "no trusted key",
        ),
        (
            header(json!({"alg": "RS256", "crit": ["b64"], "b64": false})),
            "extension",
        ),
        (with(|c| c["exp"] = json!(NOW)), "over"),
        (with(|c| c["exp"] = json!("tomorrow")), "no end"),
        (
            with(|c| _ = c.as_object_mut().unwrap().remove("exp")),
            "no end",
        ),
        (with(|c| c["nbf"] = json!(NOW + 1.0)), "not come"),
        (with(|c| c["nbf"] = json!(null)), "not come"),
        (with(|c| c["iss"] = json!("https://issuer/")), "(iss)"),
        (
            with(|c| _ = c.as_object_mut().unwrap().remove("iss")),
            "(iss)",
        ),
        (with(|c| c["aud"] = json!("QM11")), "(aud)"),
        (with(|c| c["aud"] = json!(["others", ["QM1"]])), "(aud)"),
        (with(|c| c["aud"] = json!(null)), "(aud)"),
        (with(|c| c["sub"] = json!("")), "no user"),
        (with(|c| c["sub"] = json!(7)), "no user"),
        (format!("{good}.x"), "three parts"),
        ("a.b".to_owned(), "three parts"),
        ("a.b.c".to_owned(), "header"),
        (format!("{good}="), "base64url"),
        ("x".repeat(LONGEST_TOKEN + 1), "too long"),
    ] {
        let refused = tokens.user(token.as_bytes(), NOW).expect_err(why);
        assert!(refused.contains(why), "{refused} instead of {why}");
    }
    let for_one = with(|c| c["aud"] = json!("QM1"));
    assert!(tokens.user(for_one.as_bytes(), NOW).is_ok());
    assert_eq!(tokens.user(b"\xff.\xff.\xff", NOW), Err("it is no text"));
    assert!(tokens.user(good.as_bytes(), NOW).is_ok());
}

#[test]
fn keys_that_sign_nothing_that_is_trusted_are_none() {
    let weak = Issuer::rsa(1_024, "weak");
    for text in [
        "",
        "{}",
        "{\"keys\": []}",
        "{\"keys\": [{\"kty\": \"oct\", \"k\": \"c2VjcmV0\"}]}",
        "{\"keys\": [{\"kty\": \"RSA\"}]}",
        "{\"keys\": [{\"kty\": \"EC\", \"crv\": \"P-256\", \"x\": \"AQ\", \"y\": \"AQ\"}]}",
        "-----BEGIN PUBLIC KEY-----\nxx\n-----END PUBLIC KEY-----\n",
        &weak.pem(),
        &json!({"keys": [weak.in_set()]}).to_string(),
    ] {
        assert!(tokens(text, "").is_err(), "{text}");
    }
    let mut encrypts = Issuer::ec("e").in_set();
    encrypts["use"] = json!("enc");
    assert!(tokens(&json!({"keys": [encrypts]}).to_string(), "").is_err());
}
