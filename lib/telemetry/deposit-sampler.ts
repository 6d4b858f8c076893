/** Deposits in quarantine, and how far the search for deposits is. */
import type { Clock } from "@/lib/core/clock";
import type { SqlReader } from "@/lib/db/sql";
import { gauge, type Sampler } from "./registry";

const FRESH_MS = 10_000;

const quarantined = gauge({
  name: "causeway_deposits_quarantined",
  help: "Deposits that wait for a person; counted up to 10,000",
});
const oldest = gauge({
  name: "causeway_deposit_quarantined_oldest_seconds",
  help: "Age of the oldest deposit that waits for a person; 0 without one",
});
const searched = gauge({
  name: "causeway_deposit_search_age_seconds",
  help: "Time since the search for deposits of a chain moved on",
  labels: ["chain"],
});

const QUARANTINED = `
  SELECT count(*)::int AS count, min(detected_at) AS oldest
  FROM (SELECT detected_at FROM deposit WHERE state = 'quarantined' LIMIT 10000) AS waiting`;

const SEARCHED = `SELECT chain_id AS "chainId", updated_at AS "updatedAt" FROM deposit_scan`;

export const depositSampler = ({ sql, clock }: { readonly sql: SqlReader; readonly clock: Clock }): Sampler => ({
  freshMs: FRESH_MS,
  sample: async () => {
    const nowMs = clock.now().getTime();
    const [waiting] = await sql.query<{ count: number; oldest: Date | null }>(QUARANTINED, []);
    quarantined.set({}, waiting?.count ?? 0);
    oldest.set({}, waiting?.oldest == null ? 0 : (nowMs - waiting.oldest.getTime()) / 1000);
    for (const { chainId, updatedAt } of await sql.query<{ chainId: number; updatedAt: Date }>(SEARCHED, []))
      searched.set({ chain: String(chainId) }, (nowMs - updatedAt.getTime()) / 1000);
  },
});
