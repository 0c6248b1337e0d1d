"""Tests of shortening and padding of text."""

from hypothesis import given, strategies as st

from dagneal.base.text import display_width, fit_text, pad_text


@given(st.text(st.sampled_from("ab東😀\u0301é"), max_size=12), st.integers(2, 12))
def test_shortened_text_is_not_wider_than_the_limit(text, most):
    short = fit_text(text, most)
    assert display_width(short) <= most
    assert (short == text) == (display_width(text) <= most)
    assert display_width(pad_text(short, most)) == most
