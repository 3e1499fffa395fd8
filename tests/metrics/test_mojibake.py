"""UTF-8 read as Latin-1 or CP1252: made-up text against a plain reading of the rules, real words and real accidents."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.mojibake import Mojibake
from tests.builders import numbers
from tests.metrics.strategies import quick
from tests.metrics.texts import LAYOUTS, PIECES, as_layout, batch_of_texts, of_text, small_pieces

HIGH = {chr(byte): byte for byte in range(0x80, 0x100)}
HIGH |= {character: byte for byte in HIGH.values() if (character := bytes([byte]).decode("cp1252", "ignore"))}
"""The byte of each character that Latin-1 or CP1252 has."""
ANY = set("\xa0\xad‘’“”…–—»«›‹®™ªº¹²³·°´±†‡")
WEAK_SMALL, WEAK_CAPITAL = ANY | set("©§¡¿•œšž"), ANY
OPENS, NOWHERE = set("‘’“”™›"), set("‚ƒˆ˜‰¤¦¨¬¯¸") | {chr(code) for code in range(0x80, 0xA0)}


def sequence(text: str, at: int) -> str | None:
    """Return the followers of a lead, where all that UTF-8 wants are there."""
    lead = HIGH.get(text[at], 0)
    length = 0 if not 0xC2 <= lead <= 0xF4 else 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
    raw = bytes(HIGH.get(each, 0) for each in text[at : at + 1 + length])
    try:
        return text[at + 1 : at + 1 + length] if length and len(raw.decode("utf-8")) == 1 and len(raw) > 1 else None
    except UnicodeDecodeError:
        return None


def before(text: str, at: int) -> str:
    if at == 0 or text[at - 1].isspace():
        return "space"
    last = text[at - 1]
    if last in "\"'«([" or "\u2018" <= last <= "\u201f":
        return "quote"
    if last > "\u024f" or last in "ªº":
        return ""
    return "small" if last.islower() else "capital" if last.isupper() else ""


def is_alone(lead: str, followers: str, stands: str) -> bool | str:  # noqa: C901, PLR0911  # the rules, one by one
    """Whether a character by itself is mojibake, by what stands before it; or what must come next: letter, small or space."""
    first, last = followers[0], followers[-1]
    if lead + followers in ("ï»¿", "ï¿½") or (lead == "á" and first == "º"):
        return True
    if lead >= "à":
        vietnamese = lead == "á" and first == "»" and last not in "…‘’“”–—¡¿"
        sign = lead == "â" and (first in "†‡•œ" or last not in WEAK_SMALL)
        return first not in WEAK_SMALL or vietnamese or sign
    strong = first not in WEAK_CAPITAL
    if lead == "Â":
        if HIGH[first] < 0xA0:
            return first < "\xa0"
        return not ((stands == "capital" and not strong) or (stands == "quote" and first in "»´"))
    if lead > "Å" and not (lead == "È" and 0x98 <= HIGH[first] <= 0x9B):
        if lead in "×ß":
            return False
        return (strong or "letter") if stands == "small" else first in NOWHERE
    if strong or stands == "small":
        return True
    if stands == "capital":
        return "small" if HIGH[first] > 0xA0 else False
    if stands == "quote":
        return False
    if lead == "Ã":
        return "space" if first == "\xa0" else "letter"
    return "letter" if first in OPENS else False


def comes(wanted: str, then: str) -> bool:
    """Whether what comes next is what a verdict waited for."""
    if not then or wanted != "letter":
        return then != "" and before(then, 1) == wanted
    return unicodedata.category(then)[0] in "LM"


def by_hand(text: str) -> dict[str, int]:
    found: list[int] = []
    at, run, uncounted = 0, [], []
    while at < len(text):
        followers = sequence(text, at)
        is_quote = text[at] == "â" and HIGH.get(text[at + 1 : at + 2]) == 0x80
        found += [at] if is_quote else []
        if followers is None:
            at, run, uncounted = at + 1, [], []
            continue
        weak = WEAK_SMALL if text[at] >= "à" else WEAK_CAPITAL
        run.append((at, len(followers), any(each not in weak for each in followers)))
        alone = is_alone(text[at], followers, "small" if len(run) > 1 else before(text, at))
        if len(run) > 1 and sum(size for _, size, _ in run) >= 3 and any(strong for _, _, strong in run):
            found, uncounted = found + uncounted, []
            found += [] if is_quote else [run[0][0]]
        elif not is_quote and alone is False:
            uncounted.append(at)
        elif not is_quote:
            end = at + 1 + len(followers)
            found += [at] if alone is True or comes(str(alone), text[end : end + 1]) else []
        at += 1 + len(followers)
    return {"present": True, "wrong": len(found), "wrong_at": min(found, default=-1)}


CHARACTERS = st.one_of(
    st.sampled_from("ÃÂÄÅÈÉÐÑ×ßØàáâäéïðóÃâ"),
    st.sampled_from(sorted(HIGH)),
    st.sampled_from("aAz \n5.\"'(e\u0301пЖ中…’”€™"),
)
TEXTS = st.one_of(
    st.text(CHARACTERS, max_size=12),
    st.text("aé°Ñпр中€’ A.\u0301ế", max_size=8).map(lambda text: text.encode().decode("latin-1")),
    st.text("aé°Ñт中€’ A.😀ệ", max_size=8).map(lambda text: text.encode().decode("cp1252", "replace")),
)


@quick
@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(LAYOUTS), PIECES)
def test_agrees_with_a_plain_reading_of_the_rules(rows: list[str], layout: str, size: int):
    with small_pieces(size):
        found = numbers(of_text(Mojibake), batch_of_texts(rows, layout))
    assert found == [as_layout(by_hand(row), row, layout, Mojibake.positions) for row in rows]


REAL = [
    "SÃO PAULO, MAÇÃ” e IRMÔ… «MAÇû, AMANHÃ— A MANHÃ\xa0…",
    '“Ã” e ‘Â’ são letras; «Â», “Å”, "Ä", (Ö)',
    "CHÂTEAU, PÂQUES, ÂGE, RÔLE, NOËL, FÊTE… CAFÉ” CAFÉ… BEAUTÉ » É… É »",
    "l’été’”, “le café”…, mañana—¿qué?, olvidé…¡Dios!, está»… sé…¿Y tú?",
    "5 Å², 3 Å³, 1.5 Å–2 Å, 2 Å ± 0.1, ÅNGSTRÖM, Å…, TYÖ–, PÄÄ”, HÄÄ!",
    "„Spaß“, groß…und, Fuß–Boden, WEISS“, Ü”, Ö…",
    "Úžasný, Ážko, Tomáš”…, dáš’, máš—, nesmíš",
    "Þórður og Æsa: „já“ – við…; Ísland® ÍSLAND™",
    "àé½, à ½ heure, à\xa0½, à\xa0£5, à\xa0€ 5, 2\xa0à\xa0€ 3; 3×½, 2×¼, Ø½”, Ø 5",
    "XÃ, ĐÃ”, NGÃ… Ư Ơ Ấ Ầ Việt Nam, ÂM NHẠC",
    "€5, £5, ¥5, ¢, 25°C, 5 µm, ±3, ½, «oui», ©2020, naïve, façade, Ångström, coöperate",
    "São João, coração, pão, maçã, Ñandú, ñ, ÑAÑEZ, ESPAÑA”, Ô\xa0Dieu",
    "Ё Й ё й; שלום; مرحبا; 中文。“引号”……——；日本語「かな」；한국어",
    "JOSÉ†, IRMÃ¹, IRMú, IRMê, VÄ\xadHÄ",
]


@pytest.mark.parametrize("text", REAL)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_real_words_hold(text: str, layout: str):
    assert numbers(of_text(Mojibake), batch_of_texts([text], layout))[0]["wrong"] == 0


def latin_1(text: str) -> str:
    return text.encode().decode("latin-1")


def cp1252(text: str) -> str:
    """Return what browsers make of it: the five bytes that CP1252 lacks stay."""
    return "".join(
        byte.decode("cp1252") if byte[0] not in b"\x81\x8d\x8f\x90\x9d" else chr(byte[0]) for byte in split(text)
    )


def split(text: str) -> list[bytes]:
    return [bytes([byte]) for byte in text.encode()]


WRONG = [
    *(
        "é",
        "café",
        "déjà vu",
        "voilà la",
        "über",
        "Österreich",
        "São",
        "Málaga",
        "Gómez",
        "López",
        "Pôle",
        "Año",
        "Río",
    ),
    *("it’s", "“quoted”", "a – b", "wait…", "25°C", "£5", "©2020", "a\xa0b", "« oui »", "½ cup", "€5", "™"),
    *(
        "привет",
        "Привет, мир",
        "и т",
        "καλημέρα",
        "שלום",
        "مرحبا",
        "中文",
        "日本語",
        "かな",
        "한국어",
        "ภาษาไทย",
        "हिन्दी",
    ),
    *("łódź", "część", "źródło", "ďábel", "český", "őrült", "știința", "şey", "kırmızı", "ağaç", "ārā", "đường"),
    *("Việt Nam", "tiếng", "😀", "→", "−", "\ufefftext", "\ufffd", "•", "naïve", "Ångström", "ß", "ñandú"),
]


@pytest.mark.parametrize("text", WRONG)
@pytest.mark.parametrize(
    "read", [latin_1, cp1252, lambda text: cp1252(cp1252(text)), lambda text: latin_1(latin_1(text))]
)
def test_real_accidents_are_found(text: str, read):
    assert numbers(of_text(Mojibake), batch_of_texts([read(text)]))[0]["wrong"] > 0


@pytest.mark.parametrize("text", ["â€", "donâ€t", "â€\ufffd", "aâ\x80"])
def test_a_quote_that_lost_its_last_byte_is_found(text: str):
    assert numbers(of_text(Mojibake), batch_of_texts([text]))[0] == {
        "present": True,
        "wrong": 1,
        "wrong_at": text.index("â"),
    }
