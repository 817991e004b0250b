-- Kept free for a step that stands elsewhere.
SELECT 1;
