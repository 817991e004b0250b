"""Citations of works and of passages in them: MLA 9, Chicago 18 (notes, author-date), and files for other programs.

`edition` turns what is known of a work into parts, one module per style puts them in order, `locators` says where a
passage stands, and `exports` writes files.
"""
