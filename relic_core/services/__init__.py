"""What a page or a command calls: the only way into the rest of the program."""
