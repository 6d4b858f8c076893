-- What the chain took for a leg's source, and from whom. Operations of before have neither.
ALTER TABLE operation_leg
  ADD COLUMN gas_cost_wei NUMERIC(78, 0),
  ADD COLUMN gas_paid_by TEXT,
  ADD CONSTRAINT operation_leg_gas_check CHECK (
    (gas_cost_wei IS NULL) = (gas_paid_by IS NULL)
    AND gas_cost_wei >= 0
    AND gas_paid_by IN ('sponsor', 'wallet')
  );
