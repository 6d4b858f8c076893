import {
  base,
  bool,
  int,
  int8,
  nullable,
  type RowOf,
  table,
  text,
  time,
} from "@/lib/platform/db/table";

// The tables of this module.

const FUNDS = {
  walletAddress: text,
  chainId: int,
  /** Lower-case token address, or `native`. */
  token: text,
};

const fundsKeys = table(FUNDS);

/** Identifies a balance by wallet, chain and token. */
export type FundsKey = RowOf<typeof fundsKeys>;

/** Table `balance_hold`, without the columns that all holds of an operation share. */
export const newHolds = table({
  /** The id of the leg, `<payout id>/<batch number>`, or the id of a quarantine. */
  id: text,
  ...FUNDS,
  amountBase: base,
});

/** Whether the money of the leg with this id is held from `now` on. */
export const heldChanges = table({ id: text, held: bool, now: time });

export type HeldChange = RowOf<typeof heldChanges>;

/** Table `balance_guard`: the row whose lock serialises reservations of a balance. */
export const guards = table({
  ...FUNDS,
  version: int,
  /** The amount that was held when the version was read, in base units. */
  heldBase: base,
  /**
   * The newest block up to which deposits were screened, or -1 when none was searched. Null when
   * the policies do not require screening.
   */
  screenedBlock: nullable(int8),
});

/** The guard of a balance. */
export type Guard = Omit<RowOf<typeof guards>, keyof FundsKey>;

/**
 * Money that accepted operations and payouts take from a balance and that the balance still
 * includes.
 */
export const movingSums = table({
  owner: text,
  chainId: int,
  token: FUNDS.token,
  /** Held for transactions that were not sent yet, in base units. */
  reservedBase: base,
  /** Sent, but not mined in the block of the balance. */
  pendingOutBase: base,
  /** Held for deposits that wait for a person. */
  quarantinedBase: base,
});

export type MovingFunds = RowOf<typeof movingSums>;
