//! Reads the fields of one JSON object and names the fault of each wrong one, for `reader`.

use serde_json::{Map, Value as Json};

use crate::event::{
    COUNTERS_MAX, Direction, LARGEST, Metric, Params, Phase, Unit, VALUES_MAX, Value, Work,
};
use crate::reader::Code;

type Read<T> = Result<T, (Code, String)>;

/// The fields of one object; `path` names it in messages (`""` or `"clock."`).
pub(crate) struct Fields<'a> {
    object: &'a Map<String, Json>,
    path: &'a str,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(object: &'a Map<String, Json>) -> Self {
        Self { object, path: "" }
    }

    fn bad<T>(&self, name: &str, expected: &str) -> Read<T> {
        Err((
            Code::BadField,
            format!("{}{name}: expected {expected}", self.path),
        ))
    }

    fn get(&self, name: &str) -> Read<&'a Json> {
        self.object.get(name).ok_or_else(|| {
            (
                Code::MissingField,
                format!("{}{name} is missing", self.path),
            )
        })
    }

    /// Any text without U+0000.
    pub(crate) fn text(&self, name: &str) -> Read<String> {
        match self.get(name)?.as_str() {
            Some(text) if !text.contains('\0') => Ok(text.to_owned()),
            _ => self.bad(name, "text without U+0000"),
        }
    }

    /// Text that is not empty.
    pub(crate) fn name(&self, name: &str) -> Read<String> {
        let text = self.text(name)?;
        if text.is_empty() {
            self.bad(name, "text that is not empty")
        } else {
            Ok(text)
        }
    }

    pub(crate) fn optional_text(&self, name: &str) -> Read<Option<String>> {
        self.object
            .contains_key(name)
            .then(|| self.text(name))
            .transpose()
    }

    pub(crate) fn optional_name(&self, name: &str) -> Read<Option<String>> {
        self.object
            .contains_key(name)
            .then(|| self.name(name))
            .transpose()
    }

    /// 0 … 2^63 − 1.
    pub(crate) fn natural(&self, name: &str) -> Read<u64> {
        match as_natural(self.get(name)?) {
            Some(value) => Ok(value),
            None => self.bad(name, "an integer from 0 to 2^63 - 1"),
        }
    }

    /// 1 … 2^63 − 1.
    pub(crate) fn positive(&self, name: &str) -> Read<u64> {
        let value = self.natural(name)?;
        if value == 0 {
            self.bad(name, "an integer of at least 1")
        } else {
            Ok(value)
        }
    }

    pub(crate) fn optional_natural(&self, name: &str) -> Read<Option<u64>> {
        self.object
            .contains_key(name)
            .then(|| self.natural(name))
            .transpose()
    }

    pub(crate) fn flag(&self, name: &str) -> Read<bool> {
        self.get(name)?
            .as_bool()
            .map_or_else(|| self.bad(name, "true or false"), Ok)
    }

    pub(crate) fn nested(&self, name: &str, path: &'a str) -> Read<Self> {
        match self.get(name)?.as_object() {
            Some(object) => Ok(Self { object, path }),
            None => self.bad(name, "an object"),
        }
    }

    /// An object of text → text.
    pub(crate) fn texts(&self, name: &str) -> Read<Vec<(String, String)>> {
        let inner = self.nested(name, "build.")?;
        inner
            .keys()?
            .map(|key| Ok((key.clone(), inner.text(key)?)))
            .collect()
    }

    /// An object of text → integer or text.
    pub(crate) fn params(&self, name: &str) -> Read<Params> {
        let inner = self.nested(name, "params.")?;
        let value = |key: &String| match &inner.object[key] {
            Json::Number(_) => inner.natural(key).map(Value::Int),
            Json::String(_) => inner.text(key).map(Value::Text),
            _ => inner.bad(key, "an integer or text"),
        };
        inner
            .keys()?
            .map(|key| Ok((key.clone(), value(key)?)))
            .collect()
    }

    fn keys(&self) -> Read<impl Iterator<Item = &'a String> + use<'a>> {
        match self
            .object
            .keys()
            .find(|key| key.is_empty() || key.contains('\0'))
        {
            Some(_) => self.bad("", "names that are not empty, without U+0000"),
            None => Ok(self.object.keys()),
        }
    }

    pub(crate) fn values(&self, name: &str) -> Read<Vec<u64>> {
        let values = self
            .get(name)?
            .as_array()
            .filter(|values| (1..=VALUES_MAX).contains(&values.len()));
        let integers = values.and_then(|values| values.iter().map(as_natural).collect());
        integers.map_or_else(
            || self.bad(name, "1 to 1,000 integers from 0 to 2^63 - 1"),
            Ok,
        )
    }

    /// Counters; none when there is no such field.
    pub(crate) fn counters(&self, name: &str) -> Read<Work> {
        if !self.object.contains_key(name) {
            return Ok(Work::new());
        }
        let inner = self.nested(name, "work.")?;
        if inner.object.len() > COUNTERS_MAX {
            return self.bad(name, "at most 16 counters");
        }
        inner
            .keys()?
            .map(|key| Ok((key.clone(), inner.natural(key)?)))
            .collect()
    }

    pub(crate) fn phase(&self) -> Read<Phase> {
        match self.get("phase")?.as_str() {
            Some("warmup") => Ok(Phase::Warmup),
            Some("measure") => Ok(Phase::Measure),
            _ => self.bad("phase", "warmup or measure"),
        }
    }

    pub(crate) fn metrics(&self) -> Read<Vec<Metric>> {
        let metrics = self
            .get("metrics")?
            .as_array()
            .filter(|metrics| !metrics.is_empty());
        let Some(metrics) = metrics else {
            return self.bad("metrics", "at least one metric");
        };
        let read = |metric: &'a Json| match metric.as_object() {
            Some(object) => Self {
                object,
                path: "metrics.",
            }
            .metric(),
            None => self.bad("metrics", "objects"),
        };
        metrics.iter().map(read).collect()
    }

    fn metric(&self) -> Read<Metric> {
        let name = self.name("name")?;
        let wire = self.text("unit")?;
        let unit = Unit::ALL.into_iter().find(|unit| unit.wire() == wire);
        let unit =
            unit.ok_or_else(|| (Code::UnknownUnit, format!("unit '{wire}' is not known")))?;
        let direction = match self.get("direction")?.as_str() {
            Some("lower") => Direction::Lower,
            Some("higher") => Direction::Higher,
            _ => return self.bad("direction", "lower or higher"),
        };
        Ok(Metric {
            name,
            unit,
            direction,
        })
    }
}

/// `7`, but not `7.0`, `-7`, `true` or 2^63.
fn as_natural(value: &Json) -> Option<u64> {
    value.as_u64().filter(|value| *value <= LARGEST)
}
