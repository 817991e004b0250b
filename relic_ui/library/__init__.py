"""The page of the library: works, the shelf of the data set, texts of the reader's own."""
