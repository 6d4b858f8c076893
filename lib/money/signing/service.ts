/**
 * Decides whether the service may sign for money. Signing is off while the database may have been
 * restored to an earlier state.
 */
import { createFreshCache } from "@/lib/core/fresh-cache";
import { paidAlready, signingOff } from "./errors";
import type { SigningRepository, StoredState } from "./repository";
import type { AskedPayments } from "./unknown-move-repository";
import type { SigningState } from "./state";

export type { SigningState } from "./state";
export type { AskedPayments } from "./unknown-move-repository";

export interface SigningGate {
  /**
   * Whether the service may sign for money. At most one second old.
   * @throws the database's errors
   */
  state(): Promise<SigningState>;
  /**
   * Requires that signing is allowed.
   * @throws DomainError `signing_off`
   */
  require(): Promise<void>;
  /**
   * Like `require`, but uses the last state that this process has read. Use it for signatures
   * inside a database transaction, because a transaction must not wait for another connection.
   * Callers use `require` before the transaction.
   * @throws DomainError `signing_off`
   */
  requireKnown(): void;
  /**
   * Fails when a movement that is missing from the database has paid one of the recipients.
   * @throws DomainError `signing_off`, `paid_already`
   */
  requireUnpaid(projectId: string, recipients: readonly string[]): Promise<void>;
  /**
   * Whether one of these payments was made by a movement that is missing from the database and
   * that no person has released.
   * @throws DomainError `signing_off`
   */
  hasPaid(asked: AskedPayments): Promise<boolean>;
  /**
   * The hash of an executor's transaction with this content that is missing from the database and
   * that a person has accepted; null when there is none.
   */
  lostTransaction(
    chainId: number,
    call: { readonly to: string; readonly data: string },
  ): Promise<`0x${string}` | null>;
  /**
   * Whether the executor sent this transaction and a person has accepted it as missing from the
   * database.
   */
  isLost(chainId: number, txHash: `0x${string}`): Promise<boolean>;
}

type GateDeps = Pick<
  SigningRepository,
  | "look"
  | "begin"
  | "seen"
  | "turnOff"
  | "lostPayments"
  | "hasPaid"
  | "lostTransaction"
  | "isLost"
>;

const OTHER = "the database is on another server or timeline than before";

/**
 * Reads the identity of the database. The first call of a new installation stores it. When it
 * differs from the stored one, signing is turned off.
 * @throws the database's errors
 */
export const lookNow = async (
  repository: Pick<SigningRepository, "look" | "begin" | "turnOff">,
): Promise<{ readonly present: string; readonly stored: StoredState }> => {
  const first = await repository.look();
  const isOther = first.stored?.offSince === null && first.stored.identity !== first.present;
  if (first.stored !== null && !isOther)
    return { present: first.present, stored: first.stored };
  await (isOther ? repository.turnOff(OTHER) : repository.begin(first.present));
  const { present, stored } = await repository.look();
  if (stored === null) throw new Error("The row of signing_state is missing.");
  return { present, stored };
};

const KEY = "state";
const NOT_READ = {
  isAllowed: false,
  since: new Date(0),
  reason: "the database has not been asked yet",
} as const;

/**
 * Compares the database with the one for which signing was last allowed. A restored copy, a
 * promoted standby and a point-in-time recovery are different databases: signing is then off on
 * every instance until `npm run reconcile` allows it. `turnOff` is stored, so that signing stays
 * off when the old server returns.
 */
export const createSigningGate = (repository: GateDeps): SigningGate => {
  let known: SigningState = NOT_READ;

  const read = async (): Promise<SigningState> => {
    const { present, stored } = await lookNow(repository);
    if (stored.offSince !== null)
      return { isAllowed: false, since: stored.offSince, reason: stored.offReason ?? OTHER };
    if (stored.isSeenLongAgo) await repository.seen(present);
    return { isAllowed: true, hasLostMoves: stored.hasLostMoves };
  };

  const cache = createFreshCache<SigningState>({
    load: async () => {
      known = await read();
      return known;
    },
  });

  const requireNow = async (): Promise<Extract<SigningState, { isAllowed: true }>> => {
    const state = await cache.get(KEY);
    if (!state.isAllowed) throw signingOff(state);
    return state;
  };

  return {
    state: async () => cache.get(KEY),
    require: async () => {
      await requireNow();
    },
    requireKnown: () => {
      if (!known.isAllowed) throw signingOff(known);
    },
    requireUnpaid: async (projectId, recipients) => {
      const { hasLostMoves } = await requireNow();
      if (!hasLostMoves || recipients.length === 0) return;
      const lost = await repository.lostPayments(projectId, recipients);
      if (lost.length > 0) throw paidAlready(lost);
    },
    hasPaid: async (asked) => {
      const { hasLostMoves } = await requireNow();
      return hasLostMoves && repository.hasPaid(asked);
    },
    lostTransaction: repository.lostTransaction,
    isLost: repository.isLost,
  };
};
