"""From the bytes of a file to chapters, paragraphs and sentences with their offsets; words; masked claims."""
