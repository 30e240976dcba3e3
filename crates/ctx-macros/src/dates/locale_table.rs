//! From the Unicode Common Locale Data Repository (CLDR).

use crate::dates::locale::Locale;

/// Names in English, and the most common forms of the others.
#[rustfmt::skip] // One line per list.
const ENGLISH: Locale = Locale {
    tag: "en-US",
    aliases: &["en", "us"],
    long: "dddd, MMMM D, YYYY [at] h:mm A",
    months: ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"],
    weekdays: ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
    half_days: ["AM", "PM"],
    short_weekday: (0, 3),
};

/// Names in Chinese.
#[rustfmt::skip] // One line per list.
const CHINESE: Locale = Locale {
    tag: "zh-CN",
    aliases: &["zh", "cn", "zh-hans"],
    long: "YYYY[年]M[月]D[日]dddd HH:mm",
    months: ["1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月"],
    weekdays: ["星期日", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六"],
    half_days: ["上午", "下午"],
    short_weekday: (2, 1),
};

/// Names in Portuguese.
#[rustfmt::skip] // One line per list.
const PORTUGUESE: Locale = Locale {
    tag: "pt-BR",
    aliases: &["pt", "br"],
    long: "dddd, D [de] MMMM [de] YYYY [às] HH:mm",
    months: ["janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"],
    weekdays: ["domingo", "segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado"],
    ..ENGLISH
};

/// The first is the default.
#[rustfmt::skip] // One line per list.
pub(super) static LOCALES: [Locale; 21] = [
    ENGLISH,
    Locale {
        tag: "en-GB",
        aliases: &["gb"],
        long: "dddd, D MMMM YYYY [at] HH:mm",
        ..ENGLISH
    },
    CHINESE,
    Locale {
        tag: "zh-TW",
        aliases: &["tw", "zh-hant"],
        long: "YYYY[年]M[月]D[日] dddd Ah:mm",
        ..CHINESE
    },
    Locale {
        tag: "zh-HK",
        aliases: &["hk"],
        long: "YYYY[年]M[月]D[日]dddd Ah:mm",
        ..CHINESE
    },
    Locale {
        tag: "ja-JP",
        aliases: &["ja", "jp"],
        long: "YYYY[年]M[月]D[日]dddd H:mm",
        weekdays: ["日曜日", "月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日"],
        half_days: ["午前", "午後"],
        short_weekday: (0, 1),
        ..CHINESE
    },
    Locale {
        tag: "ko-KR",
        aliases: &["ko", "kr"],
        long: "YYYY[년] MMMM D[일] dddd A h:mm",
        months: ["1월", "2월", "3월", "4월", "5월", "6월", "7월", "8월", "9월", "10월", "11월", "12월"],
        weekdays: ["일요일", "월요일", "화요일", "수요일", "목요일", "금요일", "토요일"],
        half_days: ["오전", "오후"],
        short_weekday: (0, 1),
    },
    Locale {
        tag: "fr-FR",
        aliases: &["fr"],
        long: "dddd D MMMM YYYY [à] HH:mm",
        months: ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"],
        weekdays: ["dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"],
        ..ENGLISH
    },
    Locale {
        tag: "de-DE",
        aliases: &["de"],
        long: "dddd, D. MMMM YYYY [um] HH:mm",
        months: ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"],
        weekdays: ["Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"],
        ..ENGLISH
    },
    Locale {
        tag: "es-ES",
        aliases: &["es"],
        long: "dddd, D [de] MMMM [de] YYYY, H:mm",
        months: ["enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"],
        weekdays: ["domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"],
        half_days: ["a. m.", "p. m."],
        ..ENGLISH
    },
    Locale {
        tag: "it-IT",
        aliases: &["it"],
        long: "dddd D MMMM YYYY [alle ore] HH:mm",
        months: ["gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"],
        weekdays: ["domenica", "lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato"],
        ..ENGLISH
    },
    PORTUGUESE,
    Locale {
        tag: "pt-PT",
        aliases: &[],
        long: "dddd, D [de] MMMM [de] YYYY [às] HH:mm",
        half_days: ["da manhã", "da tarde"],
        ..PORTUGUESE
    },
    Locale {
        tag: "ru-RU",
        aliases: &["ru"],
        long: "dddd, D MMMM YYYY [г. в] HH:mm",
        months: ["января", "февраля", "марта", "апреля", "мая", "июня", "июля", "августа", "сентября", "октября", "ноября", "декабря"],
        weekdays: ["воскресенье", "понедельник", "вторник", "среда", "четверг", "пятница", "суббота"],
        ..ENGLISH
    },
    Locale {
        tag: "uk-UA",
        aliases: &["uk", "ua"],
        long: "dddd, D MMMM YYYY [р. о] HH:mm",
        months: ["січня", "лютого", "березня", "квітня", "травня", "червня", "липня", "серпня", "вересня", "жовтня", "листопада", "грудня"],
        weekdays: ["неділя", "понеділок", "вівторок", "середа", "четвер", "пʼятниця", "субота"],
        half_days: ["дп", "пп"],
        ..ENGLISH
    },
    Locale {
        tag: "pl-PL",
        aliases: &["pl"],
        long: "dddd, D MMMM YYYY HH:mm",
        months: ["stycznia", "lutego", "marca", "kwietnia", "maja", "czerwca", "lipca", "sierpnia", "września", "października", "listopada", "grudnia"],
        weekdays: ["niedziela", "poniedziałek", "wtorek", "środa", "czwartek", "piątek", "sobota"],
        ..ENGLISH
    },
    Locale {
        tag: "nl-NL",
        aliases: &["nl"],
        long: "dddd D MMMM YYYY [om] HH:mm",
        months: ["januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november", "december"],
        weekdays: ["zondag", "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag"],
        half_days: ["a.m.", "p.m."],
        short_weekday: (0, 2),
    },
    Locale {
        tag: "sv-SE",
        aliases: &["sv", "se"],
        long: "dddd D MMMM YYYY [kl.] HH:mm",
        months: ["januari", "februari", "mars", "april", "maj", "juni", "juli", "augusti", "september", "oktober", "november", "december"],
        weekdays: ["söndag", "måndag", "tisdag", "onsdag", "torsdag", "fredag", "lördag"],
        half_days: ["fm", "em"],
        ..ENGLISH
    },
    Locale {
        tag: "tr-TR",
        aliases: &["tr"],
        long: "D MMMM YYYY dddd HH:mm",
        months: ["Ocak", "Şubat", "Mart", "Nisan", "Mayıs", "Haziran", "Temmuz", "Ağustos", "Eylül", "Ekim", "Kasım", "Aralık"],
        weekdays: ["Pazar", "Pazartesi", "Salı", "Çarşamba", "Perşembe", "Cuma", "Cumartesi"],
        half_days: ["ÖÖ", "ÖS"],
        ..ENGLISH
    },
    Locale {
        tag: "vi-VN",
        aliases: &["vi", "vn"],
        long: "[lúc] HH:mm dddd, D MMMM, YYYY",
        months: ["tháng 1", "tháng 2", "tháng 3", "tháng 4", "tháng 5", "tháng 6", "tháng 7", "tháng 8", "tháng 9", "tháng 10", "tháng 11", "tháng 12"],
        weekdays: ["Chủ Nhật", "Thứ Hai", "Thứ Ba", "Thứ Tư", "Thứ Năm", "Thứ Sáu", "Thứ Bảy"],
        half_days: ["SA", "CH"],
        short_weekday: (0, 9),
    },
    Locale {
        tag: "id-ID",
        aliases: &["id"],
        long: "dddd, DD MMMM YYYY [pukul] HH.mm",
        months: ["Januari", "Februari", "Maret", "April", "Mei", "Juni", "Juli", "Agustus", "September", "Oktober", "November", "Desember"],
        weekdays: ["Minggu", "Senin", "Selasa", "Rabu", "Kamis", "Jumat", "Sabtu"],
        ..ENGLISH
    },
];
