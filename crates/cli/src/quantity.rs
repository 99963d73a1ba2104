//! Times and sizes as the user writes them.

use std::time::Duration;

/// `30s`, `5m`, `1h`, `250ms`; fractions are allowed.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(bad_unit(unit, "ms, s, m or h, as in `30s` or `5m`")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("`{text}` is too long"))
}

/// `4GB`, `500MB`, `64KiB`; fractions are allowed. Decimal and binary units mean what they say.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "B" => 1.0,
        "KB" | "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        "TiB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(bad_unit(unit, "B, KB, MB, GB, KiB, MiB or GiB, as in `4GB` or `500MB`")),
    };
    // Rust's conversion saturates, and no machine has that much.
    Ok((number * factor) as u64)
}

/// The number and the unit behind it.
fn split(text: &str) -> Result<(f64, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse().map_err(|_| format!("`{text}` does not begin with a number"))?;
    Ok((number, text[end..].trim()))
}

fn bad_unit(unit: &str, known: &str) -> String {
    if unit.is_empty() { format!("the unit is missing: {known}") } else { format!("`{unit}` is not a unit: {known}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert!(duration("30").unwrap_err().contains("unit is missing"));
        assert!(duration("s").unwrap_err().contains("number"));
        assert!(duration("3 weeks").unwrap_err().contains("`weeks`"));
        assert!(duration("-1s").is_err());
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(bytes("4GB"), Ok(4_000_000_000));
        assert_eq!(bytes("64KiB"), Ok(65536));
        assert_eq!(bytes("1.5MB"), Ok(1_500_000));
        assert!(bytes("4").unwrap_err().contains("unit is missing"));
        assert!(bytes("4GX").unwrap_err().contains("`GX`"));
    }
}
