"""The weekly report: what is published on the topics, folded into one page of plain values, drawn and written."""
