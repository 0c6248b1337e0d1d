"""Texts of a given width."""

from hypothesis import given, strategies as st

from dagneal.base.text import columns, fit_text, pad_text


@given(st.text(st.sampled_from("ab東😀\u0301é"), max_size=12), st.integers(2, 12))
def test_fitted_texts_fit(text, most):
    short = fit_text(text, most)
    assert columns(short) <= most
    assert (short == text) == (columns(text) <= most)
    assert columns(pad_text(short, most)) == most
