"""The notebook: passages kept with the scholar's words, in collections."""
