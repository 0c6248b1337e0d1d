"""Files that a person brings: each is read right or refused in one clear line, and its names stay names everywhere."""

import subprocess
import sys

import pytest

import dagneal as dn
from dagneal.cli import main

ROWS = [(i % 2, (i // 2) % 2, (i // 3) % 2) for i in range(60)]
BODY = "".join(f"{a},{b},{c}\n" for a, b, c in ROWS)
BITS = (("0", "1"),) * 3

READ_RIGHT = {
    "formula cells": (
        "a,b,c\n" + "".join(f"=1+{a},-x{b},@{c}\n" for a, b, c in ROWS),
        ("a", "b", "c"),
        (("=1+0", "=1+1"), ("-x0", "-x1"), ("@0", "@1")),
    ),
    "formula names": ('=1+1,"=HYPERLINK(""x"")",+c\n' + BODY, ("=1+1", '=HYPERLINK("x")', "+c"), BITS),
    "HTML in names": (
        '<script>alert(1)</script>,"a""b\'&amp;",<img src=x onerror=alert(1)>\n' + BODY,
        ("<script>alert(1)</script>", "a\"b'&amp;", "<img src=x onerror=alert(1)>"),
        BITS,
    ),
    "HTML in cells": (
        "a,b,c\n" + "".join(f"<b>{a}</b>,</script>{b},{c}\n" for a, b, c in ROWS),
        ("a", "b", "c"),
        (("<b>0</b>", "<b>1</b>"), ("</script>0", "</script>1"), ("0", "1")),
    ),
    "a name of 10^5 letters": ("x" * 100_000 + ",b,c\n" + BODY, ("x" * 100_000, "b", "c"), BITS),
    "emoji": ("😀,👩\u200d🔬,日本語\n" + BODY, ("😀", "👩\u200d🔬", "日本語"), BITS),
    "right to left": ("العمر,שם,c\n" + BODY, ("العمر", "שם", "c"), BITS),
    "accents in two spellings": ("é,e\u0301,c\n" + BODY, ("é", "e\u0301", "c"), BITS),
    "quoted newlines": (
        'a,"b\nb",c\n' + "".join(f'"x\ny{a}",{b},{c}\n' for a, b, c in ROWS),
        ("a", "b\nb", "c"),
        (("x\ny0", "x\ny1"), ("0", "1"), ("0", "1")),
    ),
    "decimal commas": (
        "a;b;c\n" + "".join(f"{a},5;{b},25;{c}\n" for a, b, c in ROWS),
        ("a", "b", "c"),
        (("0,5", "1,5"), ("0,25", "1,25"), ("0", "1")),
    ),
    "spaces": (" a ,b,c\n" + BODY.replace(",", " , "), ("a", "b", "c"), BITS),
    "paths and options": ("--help,../../x,${HOME}\n" + BODY, ("--help", "../../x", "${HOME}"), BITS),
}

REFUSED = {
    "the same name twice": (("a, a ,c\n" + BODY).encode(), "two columns are named 'a'"),
    "no header": (b"", "empty"),
    "no rows": (b"a,b,c\n", "no rows"),
    "ragged": (b"a,b,c\n1,2,3\n1,2\n", "line 3"),
    "too long": (b"a,b,c\n1,2,3\n1,2,3,4\n", "line 3"),
    "UTF-16": (("a,b,c\n" + BODY).encode("utf-16"), "UTF-8"),
    "Latin-1": (("größe,b,c\n" + BODY).encode("latin-1"), "UTF-8"),
}


def same_under(ending, text):
    return {"plain": text, "CRLF": text.replace("\n", "\r\n"), "BOM": "\ufeff" + text}[ending]


@pytest.mark.parametrize("ending", ["plain", "CRLF", "BOM"])
@pytest.mark.parametrize("case", READ_RIGHT)
def test_it_is_read_right(case, ending, tmp_path):
    text, names, states = READ_RIGHT[case]
    file = tmp_path / "a.csv"
    file.write_bytes(same_under(ending, text).encode())
    data = dn.read(file)
    if ending == "CRLF":  # inside quotes a line ends as it was written
        names = tuple(name.replace("\n", "\r\n") for name in names)
        states = tuple(tuple(state.replace("\n", "\r\n") for state in each) for each in states)
    assert data.names == names
    assert data.states == states
    assert data.rows == len(ROWS)


@pytest.mark.parametrize("case", READ_RIGHT)
def test_it_is_learned_shown_and_saved(case, tmp_path, capsys):
    text = READ_RIGHT[case][0]
    (tmp_path / "a.csv").write_bytes(text.encode())
    for ending in ("html", "json", "graphml", "dot"):
        out = tmp_path / f"a.{ending}"
        assert main(["learn", str(tmp_path / "a.csv"), "-o", str(out), "--quiet"]) == 0
        assert out.exists()
        printed = capsys.readouterr().out
        assert max(map(len, printed.splitlines())) < 1000
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.count("<script") == 2  # the data and the program of the page
    assert "<img" not in page
    assert "<b>" not in page
    for ending in ("json", "graphml"):  # what was written is read again
        assert main(["convert", str(tmp_path / f"a.{ending}"), str(tmp_path / "again.dot")]) == 0


@pytest.mark.parametrize("case", READ_RIGHT)
def test_a_bif_has_the_same_names_or_is_refused(case, tmp_path, capsys):
    text, names, states = READ_RIGHT[case]
    (tmp_path / "a.csv").write_bytes(text.encode())
    status = main(["learn", str(tmp_path / "a.csv"), "-o", str(tmp_path / "a.bif"), "--quiet"])
    if any('"' in word or "\n" in word for word in (*names, *(state for each in states for state in each))):
        assert status == 2
        err = capsys.readouterr().err
        assert "BIF" in err
        assert err.count("\n") == 1
        assert not (tmp_path / "a.bif").exists()
        assert main(["learn", str(tmp_path / "a.csv"), "-o", str(tmp_path / "a.bif"), "--safe-labels"]) == 0
        assert len(dn.load(str(tmp_path / "a.bif")).names) == 3
    else:
        assert status == 0
        assert dn.load(str(tmp_path / "a.bif")).states == dict(zip(names, states, strict=True))


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_in_one_line(case, tmp_path, capsys):
    content, words = REFUSED[case]
    (tmp_path / "a.csv").write_bytes(content)
    assert main(["learn", str(tmp_path / "a.csv"), "-o", str(tmp_path / "a.html"), "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert words in err
    assert not (tmp_path / "a.html").exists()


def test_a_terminal_of_another_encoding(tmp_path):
    (tmp_path / "a.csv").write_bytes(READ_RIGHT["emoji"][0].encode())
    command = [sys.executable, "-m", "dagneal", "learn", str(tmp_path / "a.csv"), "--quiet"]
    done = subprocess.run(command, capture_output=True, env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}, timeout=600)
    assert done.returncode == 0
    assert "日本語" in done.stdout.decode()
