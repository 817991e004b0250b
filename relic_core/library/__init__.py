"""Where texts come from: a folder of files, a path, the sample that ships with the program."""
