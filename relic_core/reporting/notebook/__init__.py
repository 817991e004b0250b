"""Notes as documents: Markdown, Word, a table. None of them needs the store; `document` says what stands in them."""
