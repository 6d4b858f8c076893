/** Screening as part of the policies: its mode is a rule, and a movement is screened where its policies are evaluated. */
import type { Sql, SqlReader } from "@/lib/db/sql";
import {
  DEFAULT_MODE,
  ScreeningRefusedError,
  stricterMode,
  type ScreenedSubject,
  type Screened,
  type Screening,
  type ScreeningMode,
  type ScreeningService,
} from "@/lib/modules/screening/service";
import type { ScreenedAddress } from "@/lib/ports/screening";
import type { EffectivePolicy } from "./facts";
import type { Intent } from "./intent";
import { readPolicies } from "./repository";

/** What is about to be signed or sent, of a movement that the policies allowed when it was accepted. */
export interface Departure {
  readonly projectId: string;
  readonly walletIds: readonly string[];
  readonly keyIds: readonly string[];
  readonly addresses: readonly ScreenedAddress[];
  readonly subject: Omit<ScreenedSubject, "projectId">;
  /** Who asked for the movement. */
  readonly by: string;
}

/** The screening of one movement while it is accepted. */
export interface Gate {
  /** Null: money may move. */
  readonly refusal: ScreeningRefusedError | null;
  /** Stores what let the subject pass. */
  recordPassed(sql: Sql, subject: ScreenedSubject, isSent: boolean): Promise<void>;
  /** Stores what stopped the movement. */
  recordStopped(sql: Sql): Promise<void>;
}

/** Screens nothing, for services without screening. */
export const NO_SCREENING: ScreeningService = {
  screen: () => Promise.resolve(null),
  record: () => Promise.resolve(""),
  isActive: () => Promise.resolve(false),
};

/** The project's mode, or a stricter one of a wallet or key. */
export const screeningModeOf = (policies: readonly Pick<EffectivePolicy, "scope" | "rules">[]): ScreeningMode => {
  const project = policies.find(({ scope }) => scope === "project")?.rules.screening ?? DEFAULT_MODE;
  return policies.reduce((mode, { rules }) => stricterMode(mode, rules.screening ?? mode), project);
};

const addressesOf = ({ recipients, chains, parties }: Intent): readonly ScreenedAddress[] =>
  parties ?? recipients.map((address) => ({ address: address as `0x${string}`, chainId: chains[0] ?? null }));

/** The fields that name an address; one that the caller did not send is named by the field of the recipient. */
const pathsOf =
  ({ recipientPaths, fields }: Intent) =>
  (address: string): readonly string[] => {
    const paths = recipientPaths?.(address) ?? [];
    return paths.length === 0 ? [fields.recipient] : paths;
  };

/** @param policies those that bound the movement */
export const screenIntent = async (
  screening: ScreeningService,
  intent: Intent,
  policies: readonly EffectivePolicy[],
): Promise<Gate> => {
  const { projectId, by } = intent;
  const found = await screening.screen(addressesOf(intent), { mode: screeningModeOf(policies) });
  const isStopped = found !== null && found.stopped.length > 0;
  return {
    refusal: isStopped ? new ScreeningRefusedError(found, pathsOf(intent)) : null,
    recordPassed: async (sql, subject, isSent) => {
      if (found === null) return;
      await screening.record(sql, subject, found, isStopped && isSent ? "sent_by_wallet" : "passed", by);
    },
    recordStopped: async (sql) => {
      if (found === null) return;
      await screening.record(sql, { projectId, type: "request", id: null, phase: "accept" }, found, "stopped", by);
    },
  };
};

const recordDeparture = async (
  screening: ScreeningService,
  sql: Sql,
  { projectId, subject, by }: Departure,
  found: Screening,
): Promise<void> => {
  const outcome = found.stopped.length > 0 ? "stopped" : "passed";
  // Only a stop is stored before each submission: an operation is submitted many times.
  if (subject.phase === "broadcast" && outcome === "passed") return;
  await screening.record(sql, { ...subject, projectId }, found, outcome, by);
};

/**
 * Screens the addresses of a movement again before it is signed or sent, by the policies of now. Costs no statement while no source is set up: the
 * movement was then accepted under a policy that asks for none.
 * @returns the addresses after which money may not move
 */
export const screenDeparture = async (
  { screening, reader, sql }: { screening: ScreeningService; reader: SqlReader; sql: Sql },
  departure: Departure,
  { isRecorded = true }: { readonly isRecorded?: boolean } = {},
): Promise<readonly Screened[]> => {
  if (!(await screening.isActive())) return [];
  const mode = screeningModeOf(await readPolicies(reader, departure));
  const isFresh = departure.subject.phase === "sign";
  const found = await screening.screen(departure.addresses, { mode, isFresh });
  if (found === null) return [];
  if (isRecorded) await recordDeparture(screening, sql, departure, found);
  return found.stopped;
};
