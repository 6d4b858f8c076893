-- What was accepted before policies existed and had not ended when they came. The service evaluates exactly these once; nothing may be added.
CREATE TABLE policy_upgrade (
  project_id   text NOT NULL,
  -- operation | payout
  subject_type text NOT NULL CHECK (subject_type IN ('operation', 'payout')),
  subject_id   text NOT NULL,
  PRIMARY KEY (project_id, subject_id)
);

INSERT INTO policy_upgrade (project_id, subject_type, subject_id)
SELECT project_id, 'operation', id FROM operation
WHERE evaluation_id IS NULL AND accepted_at IS NOT NULL AND status IN ('pending', 'processing') AND sub_status <> 'awaiting_approval'
UNION ALL
SELECT project_id, 'payout', id FROM payout
WHERE evaluation_id IS NULL AND status IN ('pending', 'processing') AND sub_status <> 'awaiting_approval';

-- Whoever may only write through the service's user cannot add to it. An owner that is no superuser loses the rights as well.
REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON policy_upgrade FROM PUBLIC, CURRENT_USER;
