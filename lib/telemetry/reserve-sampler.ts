/** Whether the treasuries still hold what the global accounts are owed. */
import type { SqlReader } from "@/lib/db/sql";
import { gauge, type Sampler } from "./registry";

const FRESH_MS = 60_000;
/** Projects that one sample looks at; the next sample goes on after them. */
const PROJECTS_MAX = 20;

const coverage = gauge({
  name: "causeway_reserve_coverage_ratio",
  help: "What backs the global accounts on chain divided by what they are owed, of the project where it is lowest",
  labels: ["asset"],
});

interface ProjectReserves {
  readonly asset: { readonly symbol: string };
  readonly positions: readonly { readonly backs: boolean; readonly finalBase: bigint | null }[];
  readonly onChainBase: bigint;
  readonly committedBase: bigint;
  readonly liabilitiesBase: bigint;
}

interface ReserveSamplerDeps {
  readonly sql: SqlReader;
  readonly reserves: { list(projectId: string): Promise<readonly ProjectReserves[]> };
}

const PROJECTS = `
  SELECT DISTINCT project_id AS "projectId" FROM ledger_account
  WHERE kind = 'treasury_reserve' AND balance < 0 AND project_id > $1 ORDER BY 1 LIMIT ${String(PROJECTS_MAX)}`;

/** The ratio of each asset; null: a chain did not answer, and nothing can be said. */
const ratiosOf = (reserves: readonly ProjectReserves[]): Map<string, number | null> =>
  new Map(
    reserves
      .filter(({ liabilitiesBase }) => liabilitiesBase > 0n)
      .map(({ asset, positions, onChainBase, committedBase, liabilitiesBase }) => {
        const isKnown = positions.every(({ backs, finalBase }) => !backs || finalBase !== null);
        return [asset.symbol, isKnown ? Number(onChainBase - committedBase) / Number(liabilitiesBase) : null];
      }),
  );

export const reserveSampler = ({ sql, reserves }: ReserveSamplerDeps): Sampler => {
  /** By project, of the latest round over all of them. */
  const known = new Map<string, Map<string, number>>();
  let seen = new Set<string>();
  let after = "";

  const show = (): void => {
    const lowest = new Map<string, number>();
    for (const ratios of known.values())
      for (const [asset, ratio] of ratios) lowest.set(asset, Math.min(ratio, lowest.get(asset) ?? Infinity));
    coverage.reset();
    for (const [asset, ratio] of lowest) coverage.set({ asset }, ratio);
  };

  const read = async (projectId: string): Promise<void> => {
    const before = known.get(projectId);
    const ratios = new Map<string, number>();
    for (const [asset, ratio] of ratiosOf(await reserves.list(projectId))) {
      const shown = ratio ?? before?.get(asset);
      if (shown !== undefined) ratios.set(asset, shown);
    }
    known.set(projectId, ratios);
  };

  return {
    freshMs: FRESH_MS,
    sample: async () => {
      const page = await sql.query<{ projectId: string }>(PROJECTS, [after]);
      for (const { projectId } of page) seen.add(projectId);
      await Promise.all(page.map(({ projectId }) => read(projectId)));
      after = page.length < PROJECTS_MAX ? "" : (page.at(-1)?.projectId ?? "");
      if (after === "") {
        for (const projectId of known.keys()) if (!seen.has(projectId)) known.delete(projectId);
        seen = new Set();
      }
      show();
    },
  };
};
