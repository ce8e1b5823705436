"""Reports as pages of HTML with pictures; jinja2 and matplotlib are loaded where they are used."""
