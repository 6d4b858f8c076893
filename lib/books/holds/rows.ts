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

const FUNDS = {
  walletAddress: text,
  chainId: int,
  /** Lower-case token address, or `native`. */
  token: text,
};

const fundsKeys = table(FUNDS);

export type FundsKey = RowOf<typeof fundsKeys>;

/** Table `balance_hold`, without the columns that are equal for all holds of an operation. */
export const newHolds = table({
  /** The id of the leg, `<payout id>/<batch number>`, or the id of a quarantine. */
  id: text,
  ...FUNDS,
  amountBase: base,
});

/** Whether the leg's money is held from `now` on. `id` is the id of the leg. */
export const heldChanges = table({ id: text, held: bool, now: time });

export type HeldChange = RowOf<typeof heldChanges>;

/** Table `balance_guard`: the row whose lock serialises reservations of a balance. */
export const guards = table({
  ...FUNDS,
  version: int,
  /** The amount that was held at the time of the version, in base units. */
  heldBase: base,
  /**
   * The newest block up to which deposits were screened, or -1 when none was. Null when the
   * policies do not require screening.
   */
  screenedBlock: nullable(int8),
});

export type Guard = Omit<RowOf<typeof guards>, keyof FundsKey>;

/** Money that accepted operations and payouts will take and that the balance still includes. */
export const movingSums = table({
  owner: text,
  chainId: int,
  token: FUNDS.token,
  /** Held for transactions that were not sent yet, in base units. */
  reservedBase: base,
  /** Sent, but not mined in the block of the balance. */
  pendingOutBase: base,
  /** Held for deposits that await a person's decision. */
  quarantinedBase: base,
});

export type MovingFunds = RowOf<typeof movingSums>;
