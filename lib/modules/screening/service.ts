/** Screens addresses with every source that is set up, before money moves to or from them. */
import { LRUCache } from "lru-cache";
import type { Clock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import type { Sql } from "@/lib/db/sql";
import { recordAuditOn } from "@/lib/modules/audit/service";
import type { ScreenedAddress, ScreeningSource, ScreeningVerdict } from "@/lib/ports/screening";
import { insertRecord, type ScreeningRecord } from "./repository";
import { decisive, stops, type ScreeningMode } from "./verdict";

export { DEFAULT_MODE, reasonOf, stricterMode, type ScreeningMode } from "./verdict";

/** An address, and the verdict of all sources together. */
export interface Screened extends ScreenedAddress {
  readonly verdict: ScreeningVerdict;
}

/** One screening of the addresses of a movement. */
export interface Screening {
  readonly mode: ScreeningMode;
  readonly screened: readonly Screened[];
  /** Addresses after whose verdict money may not move. */
  readonly stopped: readonly Screened[];
}

/** The subject of a screening, for the record. */
export interface ScreenedSubject {
  readonly projectId: string;
  readonly type: ScreeningRecord["subjectType"];
  readonly id: string | null;
  readonly part?: string | null;
  readonly phase: ScreeningRecord["phase"];
}

export interface ScreeningService {
  /**
   * Screens the addresses; null when there is nothing to record: the mode is `off`, there are no addresses, or no source is set up and
   * the mode does not ask for one.
   * @param isFresh asks every source anew. Otherwise a verdict may be a few seconds old
   */
  screen(
    addresses: readonly ScreenedAddress[],
    how: { readonly mode: ScreeningMode; readonly isFresh?: boolean },
  ): Promise<Screening | null>;
  /** Stores the screening of a subject; a subject that it stopped gets an entry of the audit log too. @returns the id of the record */
  record(
    sql: Sql,
    subject: ScreenedSubject,
    screening: Screening,
    outcome: ScreeningRecord["outcome"],
    by: string,
  ): Promise<string>;
  /** Whether any source is set up. */
  isActive(): Promise<boolean>;
}

interface ScreeningDeps {
  readonly sources: readonly ScreeningSource[];
  readonly clock: Clock;
}

/** Of all sources together, retries included. */
const SCREENING_MS_MAX = 10_000;
const KEPT_MS = 10_000;
const KEPT_MAX = 20_000;
/** How many addresses a record or a refusal names. */
export const FINDINGS_MAX = 100;

const keyOf = ({ address, chainId }: ScreenedAddress): string => `${address.toLowerCase()}:${String(chainId)}`;

const countsOf = (screened: readonly Screened[]): ScreeningRecord["sources"] => {
  const counts = new Map<string, ScreeningRecord["sources"][number]>();
  for (const { verdict } of screened) {
    const { source, listVersion, state } = verdict;
    const key = `${source}|${String(listVersion)}|${state}`;
    counts.set(key, { source, listVersion, state, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
};

const findingsOf = (screened: readonly Screened[]): ScreeningRecord["findings"] =>
  screened
    .filter(({ verdict }) => verdict.state !== "clear")
    .sort((a, b) => Number(b.verdict.state === "hit") - Number(a.verdict.state === "hit"))
    .slice(0, FINDINGS_MAX)
    .map(({ address, verdict: { state, source, listVersion } }) => ({ address, state, source, listVersion }));

/**
 * The service that asks all sources about addresses. A source that fails or takes longer than 10 s gives the verdict `unavailable`; other
 * verdicts of remote sources are kept for 10 s.
 */
export const createScreeningService = ({ sources, clock }: ScreeningDeps): ScreeningService => {
  /** Verdicts of remote sources; those that are `unavailable` are not kept. */
  const kept = new LRUCache<string, ScreeningVerdict>({ max: KEPT_MAX, ttl: KEPT_MS });

  const active = async (): Promise<readonly ScreeningSource[]> => {
    const areActive = await Promise.all(sources.map((source) => source.isActive().catch(() => true)));
    return sources.filter((_, index) => areActive[index]);
  };

  const ask = async (
    source: ScreeningSource,
    addresses: readonly ScreenedAddress[],
    isFresh: boolean,
  ): Promise<readonly ScreeningVerdict[]> => {
    const known = addresses.map((each) => (isFresh ? undefined : kept.get(`${source.name}|${keyOf(each)}`)));
    const missing = addresses.filter((_, index) => known[index] === undefined);
    const answers =
      missing.length === 0
        ? []
        : await source
            .screen(missing, AbortSignal.timeout(SCREENING_MS_MAX))
            .catch(() => missing.map(() => unavailable(source.name, clock.now())));
    let next = 0;
    return addresses.map((each, index) => {
      const found = known[index];
      if (found !== undefined) return found;
      const verdict = answers[next] ?? unavailable(source.name, clock.now());
      next += 1;
      // The list is in memory already, and a new version of it counts within seconds.
      if (verdict.state !== "unavailable" && source.name !== "list") kept.set(`${source.name}|${keyOf(each)}`, verdict);
      return verdict;
    });
  };

  return {
    isActive: async () => (await active()).length > 0,

    screen: async (addresses, { mode, isFresh = false }) => {
      if (mode === "off" || addresses.length === 0) return null;
      const asked = await active();
      if (asked.length === 0 && mode !== "require_clear") return null;
      const unique = [...new Map(addresses.map((each) => [keyOf(each), each])).values()];
      const answers = await Promise.all(asked.map((source) => ask(source, unique, isFresh)));
      const at = clock.now();
      const screened = unique.map((each, index): Screened => {
        const verdicts = answers.flatMap((all) => all[index] ?? []);
        return { ...each, verdict: decisive(verdicts) ?? notCovered(at) };
      });
      return { mode, screened, stopped: screened.filter(({ verdict }) => stops(mode, verdict.state)) };
    },

    record: async (sql, subject, { mode, screened, stopped }, outcome, by) => {
      const { projectId, type, id, part = null, phase } = subject;
      const recordId = newId("screening");
      const at = clock.now();
      await insertRecord(sql, {
        ...{ id: recordId, projectId, subjectType: type, subjectId: id, part, phase, mode, outcome },
        addresses: screened.length,
        sources: countsOf(screened),
        findings: findingsOf(screened),
        createdAt: at,
      });
      if (outcome === "passed") return recordId;
      const data = {
        ...{ screeningId: recordId, phase, outcome, mode },
        addresses: findingsOf(stopped).map(({ address, state, source, listVersion }) =>
          [address, state, source, listVersion ?? ""].join(" ").trim(),
        ),
      };
      const entry = { projectId, actor: by, action: "screening.stopped", subject: id, data, at };
      await recordAuditOn(sql, { ...entry, request: null });
      return recordId;
    },
  };
};

const unavailable = (source: string, at: Date): ScreeningVerdict => ({
  state: "unavailable",
  source,
  listVersion: null,
  at,
});

const notCovered = (at: Date): ScreeningVerdict => ({ state: "not_covered", source: "none", listVersion: null, at });
