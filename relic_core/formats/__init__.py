"""One reader and writer per outside format; what they return are plain records, checked as they are read."""
