"""The page that says where a passage comes from."""
