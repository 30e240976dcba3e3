const CAPITALS: [char; 10] = ['零', '壹', '贰', '叁', '肆', '伍', '陆', '柒', '捌', '玖'];

/// `贰零贰伍`; a negative year starts with `负`.
pub(crate) fn capital_digits(year: i16) -> String {
    let digits = year.unsigned_abs().to_string();
    let sign = if year < 0 { "负" } else { "" };
    digits.bytes().fold(sign.to_owned(), |mut out, digit| {
        out.push(capital(digit - b'0'));
        out
    })
}

/// Below 100: `贰拾伍`; 10 is `拾` and 11 is `拾壹`.
pub(crate) fn capital_number(number: u8) -> String {
    let mut out = String::new();
    let (tens, ones) = (number / 10, number % 10);
    if tens > 1 {
        out.push(capital(tens));
    }
    if tens > 0 {
        out.push('拾');
    }
    if ones > 0 || tens == 0 {
        out.push(capital(ones));
    }
    out
}

fn capital(digit: u8) -> char {
    CAPITALS.get(usize::from(digit)).copied().unwrap_or('零')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_years_digit_by_digit() {
        assert_eq!(capital_digits(2025), "贰零贰伍");
        assert_eq!(capital_digits(0), "零");
        assert_eq!(capital_digits(-221), "负贰贰壹");
    }

    #[test]
    fn writes_numbers_with_tens() {
        let numbers = [0, 1, 9, 10, 11, 20, 22, 30, 59].map(capital_number);
        assert_eq!(numbers, ["零", "壹", "玖", "拾", "拾壹", "贰拾", "贰拾贰", "叁拾", "伍拾玖"]);
    }
}
