"""What results look like outside the program: passages ready to be set, tables, exports."""
