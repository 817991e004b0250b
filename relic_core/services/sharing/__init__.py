"""Searches that last: addresses that open elsewhere and later, then and now, and columns compared."""
