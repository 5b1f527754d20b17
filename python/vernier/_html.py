"""Small tables for notebooks."""

from html import escape


def table(heads, rows, caption=""):
    parts = ["<table>"]
    if caption:
        parts.append(f"<caption>{escape(caption)}</caption>")
    parts.append("<tr>" + "".join(f"<th>{escape(str(h))}</th>" for h in heads) + "</tr>")
    for row in rows:
        parts.append("<tr>" + "".join(f"<td>{escape(str(c))}</td>" for c in row) + "</tr>")
    parts.append("</table>")
    return "".join(parts)
