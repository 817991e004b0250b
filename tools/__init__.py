"""Tools for those who develop or measure RELiC Workbench; nothing in the application imports them."""
