import type {
  ScreenedAddress,
  ScreeningSource,
  ScreeningState,
  ScreeningVerdict,
} from "@/lib/trust/ports/screening";
import { LRUCache } from "lru-cache";
import type { Clock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import type { Sql } from "@/lib/platform/db/sql";
import { recordAuditOn } from "@/lib/news/audit/service";
import { insertRecord, type ScreeningRecord } from "./repository";

// The following functions combine the verdicts of all sources about an address and decide whether
// they stop the movement. They do no I/O.

export type ScreeningMode = "off" | "block_hits" | "require_clear";

export const DEFAULT_MODE: ScreeningMode = "block_hits";

/**
 * States in order of priority. The first one that a source returned is the combined verdict: one
 * hit outweighs all others, and a missing answer never means `clear`.
 */
const ORDER: readonly ScreeningState[] = ["hit", "unavailable", "clear", "not_covered"];

/**
 * The verdict of the source that decides; null without a verdict.
 * @param verdicts one of each source about one address
 */
export const decisive = (verdicts: readonly ScreeningVerdict[]): ScreeningVerdict | null => {
  for (const state of ORDER) {
    const found = verdicts.find((verdict) => verdict.state === state);
    if (found !== undefined) return found;
  }
  return null;
};

const STRICTNESS: readonly ScreeningMode[] = ["off", "block_hits", "require_clear"];

/** The stricter of two modes. */
export const stricterMode = (a: ScreeningMode, b: ScreeningMode): ScreeningMode =>
  STRICTNESS.indexOf(a) >= STRICTNESS.indexOf(b) ? a : b;

/** Whether a verdict with this state stops the movement in this mode. */
export const stops = (mode: ScreeningMode, state: ScreeningState): boolean => {
  if (mode === "off") return false;
  return mode === "require_clear" ? state !== "clear" : state === "hit";
};

/**
 * The reason of a verdict, in words that continue a sentence about the address: "is listed by sdn
 * version 12".
 */
export const reasonOf = ({ state, source, listVersion }: ScreeningVerdict): string => {
  const version = listVersion === null ? "" : ` version ${listVersion}`;
  switch (state) {
    case "hit":
      return `is listed by ${source}${version}`;
    case "not_covered":
      return "is covered by no screening source, and the policy asks for one";
    case "unavailable":
      return `could not be screened, because ${source}${version} did not answer or is out of date`;
    case "clear":
      return `is not listed by ${source}${version}`;
  }
};

// Screens addresses with every configured source, before money moves to or from them.

export interface Screened extends ScreenedAddress {
  readonly verdict: ScreeningVerdict;
}

export interface Screening {
  readonly mode: ScreeningMode;
  readonly screened: readonly Screened[];
  /** Addresses whose verdict stops the movement. */
  readonly stopped: readonly Screened[];
}

export interface ScreenedSubject {
  readonly projectId: string;
  readonly type: ScreeningRecord["subjectType"];
  readonly id: string | null;
  readonly part?: string | null;
  readonly phase: ScreeningRecord["phase"];
}

export interface ScreeningService {
  /**
   * Screens the addresses. Null when there is nothing to record: the mode is `off`, there are no
   * addresses, or no source is active and the mode does not require one.
   * @param isFresh true to ask every source again; otherwise a verdict may be a few seconds old
   */
  screen(
    addresses: readonly ScreenedAddress[],
    how: { readonly mode: ScreeningMode; readonly isFresh?: boolean },
  ): Promise<Screening | null>;
  /**
   * Stores the screening of a subject. Every outcome except `passed` also gets an audit entry.
   * @returns the id of the record
   */
  record(
    sql: Sql,
    subject: ScreenedSubject,
    screening: Screening,
    outcome: ScreeningRecord["outcome"],
    by: string,
  ): Promise<string>;
  /** Whether any source is active, which means that it could change a decision now. */
  isActive(): Promise<boolean>;
}

interface ScreeningDeps {
  readonly sources: readonly ScreeningSource[];
  readonly clock: Clock;
}

/** Time limit for all sources together, including retries. */
const SCREENING_MS_MAX = 10_000;
const KEPT_MS = 10_000;
const KEPT_MAX = 20_000;
/** Maximum number of addresses that a record or an error names. */
export const FINDINGS_MAX = 100;

const keyOf = ({ address, chainId }: ScreenedAddress): string =>
  `${address.toLowerCase()}:${String(chainId)}`;

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
    .map(({ address, verdict: { state, source, listVersion } }) => ({
      address,
      state,
      source,
      listVersion,
    }));

/**
 * Asks all sources about addresses. A source that fails or takes longer than 10 s gives the verdict
 * `unavailable`; other verdicts of remote sources are cached for 10 s.
 */
export const createScreeningService = ({ sources, clock }: ScreeningDeps): ScreeningService => {
  /** For each remote source and address, the verdict. `unavailable` is not cached. */
  const kept = new LRUCache<string, ScreeningVerdict>({ max: KEPT_MAX, ttl: KEPT_MS });

  const active = async (): Promise<readonly ScreeningSource[]> => {
    const areActive = await Promise.all(
      sources.map((source) => source.isActive().catch(() => true)),
    );
    return sources.filter((_, index) => areActive[index]);
  };

  const ask = async (
    source: ScreeningSource,
    addresses: readonly ScreenedAddress[],
    isFresh: boolean,
  ): Promise<readonly ScreeningVerdict[]> => {
    const known = addresses.map((each) =>
      isFresh ? undefined : kept.get(`${source.name}|${keyOf(each)}`),
    );
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
      // Verdicts of the list are not cached here, because the list is in memory already and its
      // new versions take effect within seconds.
      if (verdict.state !== "unavailable" && source.name !== "list")
        kept.set(`${source.name}|${keyOf(each)}`, verdict);
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
      return {
        mode,
        screened,
        stopped: screened.filter(({ verdict }) => stops(mode, verdict.state)),
      };
    },

    record: async (sql, subject, { mode, screened, stopped }, outcome, by) => {
      const { projectId, type, id, part = null, phase } = subject;
      const recordId = newId("screening");
      const at = clock.now();
      await insertRecord(sql, {
        ...{
          id: recordId,
          projectId,
          subjectType: type,
          subjectId: id,
          part,
          phase,
          mode,
          outcome,
        },
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
      const entry = {
        projectId,
        actor: by,
        action: "screening.stopped",
        subject: id,
        data,
        at,
      };
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

const notCovered = (at: Date): ScreeningVerdict => ({
  state: "not_covered",
  source: "none",
  listVersion: null,
  at,
});
