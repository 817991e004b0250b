-- What a person says of a window stands over every rule: one judged a quotation of its passage is kept, whatever the
-- thresholds say of it, and one judged none is set aside.
CREATE OR REPLACE VIEW live_windows AS
SELECT windows.*, live_works.title AS work_title,
    CASE judged.answer WHEN 'wrong' THEN 'judged no quotation of this passage' WHEN 'right' THEN ''
        ELSE coalesce(window_reasons.reason, '') END AS reason
FROM windows
JOIN live_works ON live_works.id = windows.work_id AND live_works.segmenter = windows.segmenter
LEFT JOIN window_reasons ON window_reasons.window_id = windows.id
LEFT JOIN (
    SELECT window_id, answer FROM latest_judgements WHERE question = 'match'
) AS judged ON judged.window_id = windows.id
WHERE windows.source_id IN (SELECT id FROM live_sources);
