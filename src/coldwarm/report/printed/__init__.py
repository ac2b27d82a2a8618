"""The validation report for print: a PDF of a few pages, set by typst."""
