/** How long the imported sanctions lists are still valid. */
import type { Clock } from "@/lib/core/clock";
import type { SqlReader } from "@/lib/db/sql";
import { gauge, type Sampler } from "./registry";

const FRESH_MS = 60_000;

const validity = gauge({
  name: "causeway_screening_list_valid_seconds",
  help: "Seconds for which the newest version of a sanctions list is still valid; below zero it is out of date",
  labels: ["list"],
});

const NEWEST = `
  SELECT DISTINCT ON (name) name, valid_until AS "validUntil" FROM screening_list ORDER BY name, version DESC`;

export const screeningSampler = ({ sql, clock }: { readonly sql: SqlReader; readonly clock: Clock }): Sampler => ({
  freshMs: FRESH_MS,
  sample: async () => {
    const lists = await sql.query<{ name: string; validUntil: Date }>(NEWEST, []);
    validity.reset();
    for (const { name, validUntil } of lists)
      validity.set({ list: name }, (validUntil.getTime() - clock.now().getTime()) / 1000);
  },
});
