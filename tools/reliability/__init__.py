"""What happens under load and when something breaks: done on purpose, to a library made for it, and counted."""
