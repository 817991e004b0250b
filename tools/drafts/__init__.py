"""How often each checker of drafts calls quotations what they are: real ones, read by two readers, and false ones."""
