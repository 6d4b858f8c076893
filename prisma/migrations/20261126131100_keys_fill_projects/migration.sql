-- Fills the project of old rows, 5,000 in a transaction, so that nobody waits long for a row. Can be repeated after an interruption.
DO $$
DECLARE
  step CONSTANT int := 5000;
  changed int;
  leg text;
  after_account uuid := '00000000-0000-0000-0000-000000000000';
  after_seq int8 := 0;
  to_account uuid;
  to_seq int8;
  after_id text := '';
  to_id text;
BEGIN
  -- By operation and by payout, because their rows follow each other in the primary key.
  LOOP
    SELECT max(id) INTO to_id FROM (SELECT id FROM operation WHERE id > after_id ORDER BY id LIMIT 1000) one;
    EXIT WHEN to_id IS NULL;
    UPDATE operation_event e SET project_id = o.project_id FROM operation o
      WHERE o.id = e.operation_id AND o.id > after_id AND o.id <= to_id AND e.operation_id > after_id AND e.operation_id <= to_id
        AND e.project_id IS NULL;
    COMMIT;
    -- In the order in which everybody locks legs.
    FOR leg IN SELECT l.id FROM operation_leg l WHERE l.operation_id > after_id AND l.operation_id <= to_id AND l.project_id IS NULL
      ORDER BY l.id COLLATE "C" FOR NO KEY UPDATE
    LOOP
      UPDATE operation_leg l SET project_id = o.project_id FROM operation o WHERE l.id = leg AND o.id = l.operation_id;
    END LOOP;
    COMMIT;
    after_id := to_id;
  END LOOP;
  after_id := '';
  LOOP
    SELECT max(id) INTO to_id FROM (SELECT id FROM payout WHERE id > after_id ORDER BY id LIMIT 10) one;
    EXIT WHEN to_id IS NULL;
    UPDATE payout_rows r SET project_id = p.project_id FROM payout p
      WHERE p.id = r.payout_id AND p.id > after_id AND p.id <= to_id AND r.payout_id > after_id AND r.payout_id <= to_id
        AND r.project_id IS NULL;
    COMMIT;
    LOOP
      UPDATE payout_item i SET project_id = p.project_id
        FROM (SELECT payout_id, index FROM payout_item WHERE payout_id > after_id AND payout_id <= to_id AND project_id IS NULL
          LIMIT step FOR NO KEY UPDATE) one, payout p
        WHERE p.id = one.payout_id AND i.payout_id = one.payout_id AND i.index = one.index;
      GET DIAGNOSTICS changed = ROW_COUNT;
      COMMIT;
      EXIT WHEN changed = 0;
    END LOOP;
    after_id := to_id;
  END LOOP;
  LOOP
    SELECT account_id, seq INTO to_account, to_seq FROM (
      SELECT account_id, seq FROM ledger_entry WHERE (account_id, seq) > (after_account, after_seq) ORDER BY account_id, seq LIMIT step
    ) one ORDER BY account_id DESC, seq DESC LIMIT 1;
    EXIT WHEN to_account IS NULL;
    UPDATE ledger_entry e SET project_id = a.project_id FROM ledger_account a
      WHERE a.id = e.account_id AND (e.account_id, e.seq) > (after_account, after_seq) AND (e.account_id, e.seq) <= (to_account, to_seq)
        AND e.project_id IS NULL;
    COMMIT;
    after_account := to_account;
    after_seq := to_seq;
  END LOOP;
END $$;
