"""What pydantic objects to, in plain words, with a way to mend it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from dataguard.suite.words import allowed, did_you_mean, nearest_allowed


class Settings(BaseModel):
    """A mapping."""

    side: Literal["left", "right", "none"] = "left"


SHARE = Annotated[float, Field(ge=0, le=1)]
CASES = [
    (int, "7", "it must be a whole number", "write 7, without quotes"),
    (int, "x", "it must be a whole number", None),
    (int, 5.5, "it must be a whole number", None),
    (float, "0.5", "it must be a number", "write 0.5, without quotes"),
    (float, [], "it must be a number", None),
    (bool, "yes", "it must be true or false", None),
    (str, 5, "it must be text", None),
    (SHARE, 99, "it must be at most 1", "write 0.99: it is a share, not percent"),
    (SHARE, 1000, "it must be at most 1", None),
    (SHARE, -1, "it must be at least 0", None),
    (list[str], "labels", "it must be a list", "write [labels]"),
    (tuple[str, ...], "labels", "it must be a list", "write [labels]"),
    (dict[str, int], [], "it must be a mapping", None),
    (Literal["auto", "right"], "rigth", "it must be 'auto' or 'right'", "did you mean right?"),
    (Literal["auto", "right"], "never", "it must be 'auto' or 'right'", None),
    (Literal[0, 1], "1", "it must be 0 or 1", "write 1, without quotes"),
    (bool | Literal["auto"], "outo", "it must be true or false, or 'auto'", "did you mean auto?"),
    (Annotated[str, Field(pattern="^a$")], "b", "it must be text of another form", None),
]


def objections(kind: Any, value: Any, *, strict: bool) -> list[Any]:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(value, strict=strict)
    return caught.value.errors()


@pytest.mark.parametrize(("kind", "value", "words", "fix"), CASES)
def test_what_is_allowed_is_said_in_plain_words_and_mended(kind: Any, value: Any, words: str, fix: str | None) -> None:
    errors = objections(kind, value, strict=True)
    assert (allowed(errors), nearest_allowed(errors, value)) == (words, fix)


@pytest.mark.parametrize(("kind", "value"), [(int, "x"), (int, 5.5), (float, "x"), (bool, "perhaps")])
def test_nothing_of_pydantics_own_words_is_left_where_it_tries_to_read_text(kind: Any, value: Any) -> None:
    text = allowed(objections(kind, value, strict=False))
    assert text.startswith("it must be ")
    assert "pars" not in text
    assert "valid" not in text


def test_the_nearest_word_is_asked_for_whatever_its_case() -> None:
    assert did_you_mean("WARN", ["critical", "warning"]) == "did you mean warning?"
    assert did_you_mean("never", ["critical", "warning"]) is None
