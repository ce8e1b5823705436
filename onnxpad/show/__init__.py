"""What people read: a report becomes a document, which is printed or made a page.

One function for each verb makes the document (`inspections`, `edits`, ...; `reports` finds it for a
report of the Python API). `document` has its parts, a headline, sections with lines, notes, a table
and pictures, and writes them as text; `pages.page` writes them as HTML. Of many models a document
gives its `line`. Pictures are drawn for HTML alone, in `pages`. Beside them: `batches`; `sarif`;
`pasting`, layers as code; `site`, what `explain --html` writes.
"""
