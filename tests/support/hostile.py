"""Difficult CSV files: unusual names and cells that must be read correctly, and files that must be refused."""

ROWS = [(i % 2, (i // 2) % 2, (i // 3) % 2) for i in range(60)]

BODY = "".join(f"{a},{b},{c}\n" for a, b, c in ROWS)

BITS = (("0", "1"),) * 3

READABLE = {
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
    "very long name": ("x" * 100_000 + ",b,c\n" + BODY, ("x" * 100_000, "b", "c"), BITS),
    "emoji": ("😀,👩\u200d🔬,日本語\n" + BODY, ("😀", "👩\u200d🔬", "日本語"), BITS),
    "right to left": ("العمر,שם,c\n" + BODY, ("العمر", "שם", "c"), BITS),
    "two encodings of an accent": ("é,e\u0301,c\n" + BODY, ("é", "e\u0301", "c"), BITS),
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
    "duplicate name": (("a, a ,c\n" + BODY).encode(), "two columns are named 'a'"),
    "no header": (b"", "empty"),
    "no rows": (b"a,b,c\n", "no rows"),
    "ragged": (b"a,b,c\n1,2,3\n1,2\n", "line 3"),
    "too long": (b"a,b,c\n1,2,3\n1,2,3,4\n", "line 3"),
    "UTF-16": (("a,b,c\n" + BODY).encode("utf-16"), "UTF-8"),
    "Latin-1": (("größe,b,c\n" + BODY).encode("latin-1"), "UTF-8"),
}
