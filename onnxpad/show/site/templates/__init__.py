"""The templates of the site; they share styles and escaping with the pages of reports."""
