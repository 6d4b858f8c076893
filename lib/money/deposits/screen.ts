/** Screens the senders of deposits by the policies of the receiving wallets. */
import type { Sql } from "@/lib/platform/db/sql";
import { addSeconds } from "@/lib/core/clock";
import type { Screening, ScreeningMode, ScreeningService } from "@/lib/trust/screening/service";
import type { Deposit } from "./rows";

/** Minimum number of seconds until a sender that could not be screened is screened again. */
const AGAIN_SECONDS = 30;

/**
 * Maximum number of seconds between two screenings of a sender. The wait grows while a source stays
 * down.
 */
const AGAIN_SECONDS_MAX = 600;
const SECOND_MS = 1000;

/**
 * When a sender with an unchanged verdict is screened again: the wait equals the age of the
 * verdict, within bounds.
 */
export const againAfter = ({ screenedAt }: Pick<Deposit, "screenedAt">, now: Date): Date => {
  const seconds = Math.floor((now.getTime() - (screenedAt ?? now).getTime()) / SECOND_MS);
  return addSeconds(now, Math.min(AGAIN_SECONDS_MAX, Math.max(AGAIN_SECONDS, seconds)));
};

export interface SenderScreening extends Pick<
  Deposit,
  "verdict" | "verdictSource" | "listVersion" | "screenedAt"
> {
  readonly isStopped: boolean;
  readonly againAt: Date | null;
  /** Null when nothing was screened. */
  readonly screening: Screening | null;
}

interface Screened {
  readonly chainId: number;
  readonly sender: Deposit["sender"];
  readonly mode: ScreeningMode;
}

const NONE = {
  verdict: null,
  verdictSource: null,
  listVersion: null,
  screenedAt: null,
} as const;
const PASSED: SenderScreening = { ...NONE, isStopped: false, againAt: null, screening: null };

/**
 * The verdict for a deposit whose sender is unknown. It is `not_covered`, which never counts as
 * clear: it stops the deposit when the policy requires a clear sender. Without screening, the
 * deposit passes.
 */
const withoutSender = (mode: ScreeningMode, isActive: boolean, now: Date): SenderScreening => {
  const isStopped = mode === "require_clear";
  if (mode === "off" || (!isActive && !isStopped)) return PASSED;
  return {
    ...NONE,
    verdict: "not_covered",
    screenedAt: now,
    isStopped,
    againAt: null,
    screening: null,
  };
};

const keyOf = (address: string, chainId: number | null): string =>
  `${address.toLowerCase()}:${String(chainId)}`;

/**
 * Returns the verdicts in the order of `deposits`. A source that fails gives the verdict
 * `unavailable`; the function never throws.
 */
export const screenSenders = async (
  screening: Pick<ScreeningService, "screen" | "isActive">,
  deposits: readonly Screened[],
  now: Date,
): Promise<readonly SenderScreening[]> => {
  if (deposits.length === 0) return [];
  const isActive = await screening.isActive();
  const modes = [...new Set(deposits.map(({ mode }) => mode))];
  const answers = new Map(
    await Promise.all(
      modes.map(async (mode) => {
        const addresses = deposits.flatMap(({ sender: address, chainId, mode: own }) =>
          address === null || own !== mode ? [] : [{ address, chainId }],
        );
        return [mode, await screening.screen(addresses, { mode })] as const;
      }),
    ),
  );
  const byMode = new Map(
    [...answers].map(([mode, found]) => [
      mode,
      {
        verdicts: new Map(
          found?.screened.map((each) => [keyOf(each.address, each.chainId), each]),
        ),
        stopped: new Set(found?.stopped),
      },
    ]),
  );
  return deposits.map(({ sender, chainId, mode }): SenderScreening => {
    if (sender === null) return withoutSender(mode, isActive, now);
    const found = byMode.get(mode);
    const own = found?.verdicts.get(keyOf(sender, chainId));
    if (found === undefined || own === undefined) return PASSED;
    const { state, source, listVersion, at } = own.verdict;
    const isStopped = found.stopped.has(own);
    return {
      ...{
        verdict: state,
        verdictSource: source === "none" ? null : source,
        listVersion,
        screenedAt: at,
        isStopped,
      },
      againAt: isStopped && state === "unavailable" ? addSeconds(now, AGAIN_SECONDS) : null,
      screening: { mode, screened: [own], stopped: isStopped ? [own] : [] },
    };
  });
};

type Verdict = Screening["screened"][number];

interface Recorded {
  readonly projectId: string;
  readonly id: string;
  readonly result: SenderScreening;
}

interface Group {
  readonly first: Recorded;
  readonly mode: ScreeningMode;
  readonly ids: string[];
  /** The verdict of each screened sender, by `keyOf` of its address and chain. */
  readonly screened: Map<string, Verdict>;
  /** The verdicts among `screened` that stop a deposit, by the same keys. */
  readonly stopped: Map<string, Verdict>;
}

/**
 * Stores the results of screening: one record for each project and outcome, to which all deposits
 * of a turn refer.
 * @returns the record's id for each deposit
 */
export const recordScreenings = async (
  sql: Sql,
  screening: Pick<ScreeningService, "record">,
  deposits: readonly Recorded[],
): Promise<ReadonlyMap<string, string>> => {
  const groups = new Map<string, Group>();
  for (const deposit of deposits) {
    const { projectId, id, result } = deposit;
    if (result.screening === null) continue;
    const key = `${projectId}:${String(result.isStopped)}:${result.screening.mode}`;
    const known = groups.get(key);
    const { mode, screened, stopped } = result.screening;
    const group: Group = known ?? {
      first: deposit,
      mode,
      ids: [],
      screened: new Map(),
      stopped: new Map(),
    };
    group.ids.push(id);
    for (const each of screened) group.screened.set(keyOf(each.address, each.chainId), each);
    for (const each of stopped) group.stopped.set(keyOf(each.address, each.chainId), each);
    groups.set(key, group);
  }
  const records = new Map<string, string>();
  for (const { first, mode, ids, ...group } of groups.values()) {
    const merged = {
      mode,
      screened: [...group.screened.values()],
      stopped: [...group.stopped.values()],
    };
    const subject = {
      projectId: first.projectId,
      type: "deposit",
      id: first.id,
      phase: "credit",
    } as const;
    const outcome = first.result.isStopped ? "quarantined" : "passed";
    const recordId = await screening.record(sql, subject, merged, outcome, "deposits");
    for (const id of ids) records.set(id, recordId);
  }
  return records;
};
