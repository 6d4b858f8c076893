-- Deposits in wallets that the service does not sign for are not kept back any more: the next search lets them go.
UPDATE deposit d SET again_at = now()
WHERE d.state = 'quarantined' AND NOT EXISTS (SELECT 1 FROM wallet w WHERE w.id = d.wallet_id AND w.key_id IS NOT NULL);
