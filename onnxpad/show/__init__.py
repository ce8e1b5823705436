"""Reports as text and JSON for people and programs; the only place that formats."""
