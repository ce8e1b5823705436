"""Reports as pages of HTML with pictures; jinja2 is loaded where it is used."""
