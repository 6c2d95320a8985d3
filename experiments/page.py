"""A page: text, tables and figures in one HTML file that needs nothing else.

Headings make the contents, figures and tables are numbered, a click on a column's title sorts its
table; without JavaScript the page is whole, but for the sorting."""
import html
import os
import re

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 2rem auto;
       max-width: 78rem; padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.3rem; margin-top: 2.5rem; }
h3 { font-size: 1.05rem; margin-top: 1.8rem; }
p, li { max-width: 46rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.78rem; }
caption span { display: inline-block; max-width: min(60rem, 88vw); white-space: normal; }
caption { text-align: left; font-weight: 600; padding: 1rem 0 0.4rem; }
th, td { padding: 0.2rem 0.4rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
thead th { border-bottom: 1px solid #444; vertical-align: bottom; white-space: normal; }
tbody + tbody td, tbody + tbody th { border-top: 1px solid #444; }
tbody + tbody tr + tr td { border-top: none; }
tbody.own { background: #f1f6f1; } tbody.own th { font-weight: 600; text-align: left; }
td.group, th.group { border-left: 1px solid #bbb; }
nav { font-size: 0.9rem; } nav ul { columns: 18rem; padding-left: 1.2rem; margin: 0.4rem 0; }
nav li { break-inside: avoid; } nav p { max-width: none; margin: 0.3rem 0; }
th button { all: unset; cursor: pointer; } th button:focus-visible { outline: 2px solid #0b5fa5; }
th button:hover { text-decoration: underline; }
th[aria-sort=ascending] button::after { content: " \\25B2"; }
th[aria-sort=descending] button::after { content: " \\25BC"; }
figure { margin: 1.2rem 0; } figure svg { max-width: 100%; height: auto; }
@media (max-width: 40rem) { body { margin: 1rem auto; padding: 0 0.7rem; }
  figure.plot { overflow-x: auto; } figure.plot svg { max-width: none; min-width: 36rem; }
  figure.plot figcaption { position: sticky; left: 0; } h1 { font-size: 1.35rem; } }
figcaption { font-size: 0.9rem; max-width: 46rem; }
.row { display: flex; flex-wrap: wrap; gap: 0.8rem; margin-bottom: 0.8rem; }
.row figure { flex: 1 1 17rem; margin: 0; border: 1px solid #ddd; padding: 0.4rem; }
.row svg { width: 100%; height: auto; }
.quick { border: 2px solid #8a5a00; background: #fff6e0; padding: 0.6rem 1rem; }
code, pre { font-size: 0.82rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
@media print { body { margin: 0; max-width: none; } table { font-size: 0.65rem; } h2 { break-after: avoid; }
               figure, table { break-inside: avoid; } }
"""

# Sorts the rows of each body by the column whose title is clicked: numbers by value, else by text.
SCRIPT = """
for (const table of document.querySelectorAll('table')) {
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, i) => {
    const text = (row.cells[i] ? row.cells[i].textContent : '').replace(/\\u2212/g, '-');
    const number = parseFloat(text);
    return isNaN(number) ? text : number;
  };
  const compare = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b :
    typeof a === 'number' ? -1 : typeof b === 'number' ? 1 : a.localeCompare(b);
  heads.forEach((head, i) => {
    const button = document.createElement('button');
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      heads.forEach(h => h.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      for (const body of table.tBodies) {
        const rows = [...body.rows].filter(r => r.cells.length === heads.length);
        rows.sort((a, b) => (down ? -1 : 1) * compare(value(a, i), value(b, i)));
        body.append(...rows);
      }
    });
  });
}
"""


def escape(text):
    return html.escape(str(text), quote=False)


class Page:
    def __init__(self, title, folder):
        self.title, self.folder = title, folder
        self.parts, self.contents = [], []
        self.figures = self.tables = self.numbered = 0
        self.links = []          # (where, what) of other pages and files

    def raw(self, text):
        self.parts.append(text)

    def heading(self, text, level=2):
        name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
        if level == 2:
            self.contents.append((name, text))
        self.raw(f'<h{level} id="{name}">{escape(text)}</h{level}>' if level == 2 else
                 f"<h{level}>{escape(text)}</h{level}>")

    def text(self, text, css=""):
        """A paragraph; `code` between backquotes."""
        body = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
        self.raw(f"<p{f' class={css}' if css else ''}>{body}</p>")

    def points(self, items):
        self.raw("<ul>")
        for item in items:
            body = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(item))
            self.raw(f"<li>{body}</li>")
        self.raw("</ul>")

    def table(self, caption, head, groups, text_columns=(), group_columns=()):
        """head: titles; groups: (css class, heading or None, rows) one after the other."""
        def css(i):
            names = ["text"] * (i in text_columns) + ["group"] * (i in group_columns)
            return f' class="{" ".join(names)}"' if names else ""
        cells = "".join(f'<th scope="col"{css(i)}>{escape(t)}</th>' for i, t in enumerate(head))
        self.tables += 1
        out = [f'<div class="wide"><table><caption><span>Table {self.tables}. {escape(caption)}'
               "</span></caption>",
               f"<thead><tr>{cells}</tr></thead>"]
        for name, heading, rows in groups:
            out.append(f'<tbody class="{name}">' if name else "<tbody>")
            if heading:
                out.append(f'<tr><th colspan="{len(head)}" scope="rowgroup">{escape(heading)}</th>'
                           "</tr>")
            for row in rows:
                out.append("<tr>" + "".join(f"<td{css(i)}>{escape(c)}</td>"
                                            for i, c in enumerate(row)) + "</tr>")
            out.append("</tbody>")
        self.raw("\n".join(out + ["</table></div>"]))

    def svg(self, name, alt):
        """The picture's text, its ids made unique on this page."""
        self.figures += 1
        with open(os.path.join(self.folder, name)) as file:
            text = file.read()
        text = text[text.index("<svg"):]
        prefix = f"f{self.figures}-"
        text = re.sub(r"\bid=(['\"])", rf"id=\1{prefix}", text)
        text = re.sub(r"(href=['\"]#|url\(#)", rf"\1{prefix}", text)
        text = re.sub(r"<title>.*?</title>", "", text, flags=re.S)
        text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
        label = html.escape(alt, quote=True)
        return re.sub(r"<svg", f'<svg role="img" aria-label="{label}"', text, count=1)

    def figure(self, name, caption, css="plot"):
        self.numbered += 1
        self.raw(f'<figure class="{css}" id="figure-{self.numbered}">{self.svg(name, caption)}'
                 f"<figcaption><b>Figure {self.numbered}.</b> {escape(caption)}</figcaption></figure>")

    def row(self, pictures):
        """Small figures (name, caption) side by side."""
        self.raw('<div class="row">')
        for name, caption in pictures:
            self.figure(name, caption, "small")
        self.raw("</div>")

    def commands(self, title, lines):
        body = "\n".join(escape(line) for line in lines)
        self.raw(f"<details><summary>{escape(title)}</summary><pre>{body}</pre></details>")

    def head(self):
        """Title, contents, other pages and the files beside this one."""
        items = "".join(f'<li><a href="#{name}">{escape(text)}</a></li>'
                        for name, text in self.contents)
        lines = "".join(f"<p>{escape(title)}: " + " · ".join(
            f'<a href="{where}">{escape(what)}</a>' for where, what in links) + "</p>"
            for title, links in self.links if links)
        return (f'<h1>{escape(self.title)}</h1>\n<nav aria-label="Contents">{lines}'
                f"<ul>{items}</ul></nav>")

    def write(self, path):
        with open(path, "w") as file:
            file.write("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width\">\n"
                       f"<title>{escape(self.title)}</title>\n<style>{STYLE}</style></head>\n"
                       "<body>\n" + "\n".join([self.head(), *self.parts]) +
                       f"\n<script>{SCRIPT}</script>\n</body></html>\n")
