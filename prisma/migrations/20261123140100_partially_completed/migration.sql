-- An operation whose legs together delivered less than the promised minimum ended as `completed`, `partial`. It now ends
-- as `partially_completed`; operations that ended before get the same status. Their events stay as they were sent.
UPDATE "operation" o
SET "status" = 'partially_completed', "version" = o."version" + 1
WHERE o."status" = 'completed' AND o."sub_status" = 'partial'
  AND (
    SELECT coalesce(sum(l."received_base"), 0) FROM "operation_leg" l
    WHERE l."operation_id" = o."id" AND l."state" = 'completed'
  ) < o."minimum_base";
