import { hash } from "node:crypto";

/** JSON that is stored with a transaction, such as a memo. The ledger does not interpret it. */
export type LedgerData = Readonly<Record<string, string | number | boolean | null>>;

interface Common {
  readonly projectId: string;
  /**
   * Idempotency key of 1–255 characters. The outcome of the first command with a key is stored,
   * usually also when the command is rejected. The same command with the same key and scope gets
   * the stored outcome.
   */
  readonly key: string;
  /**
   * Namespace of the key. The same key in two scopes identifies two commands. Default: the kind of
   * command.
   */
  readonly scope?: string;
  readonly by: string;
  readonly data?: LedgerData;
}

/** One row of a transfer between two customer accounts in `currency`. Amount in base units. */
export interface TransferRow {
  readonly from: string;
  readonly to: string;
  readonly amountBase: bigint;
  /** Id of the asset. */
  readonly currency: string;
}

export interface TransferCommand extends Common, TransferRow {
  readonly kind: "transfer";
}

/**
 * Posts all rows or none, as one transaction. Consecutive rows with the same source share one
 * debit.
 */
export interface BatchCommand extends Common {
  readonly kind: "batch";
  readonly rows: readonly TransferRow[];
}

export interface FundCommand extends Common {
  readonly kind: "fund";
  readonly to: string;
  readonly amountBase: bigint;
  readonly currency: string;
  /**
   * Maximum of the sum of all liabilities of the currency after the command, in base units; null
   * for no check. Checked under the lock of the reserve account. Not part of the request's digest,
   * because it may differ when the same request is repeated.
   */
  readonly liabilitiesMaxBase: bigint | null;
}

/**
 * Reverses a transfer, batch or funding once, by a transaction with the opposite entries. Rejected
 * when an account is not active.
 */
export interface ReverseCommand extends Common {
  readonly kind: "reverse";
  readonly transactionId: string;
}

/**
 * Debits an account in order to pay a wallet. The amount is in transit until `settle` records the
 * result.
 */
export interface WithdrawCommand extends Common {
  readonly kind: "withdraw";
  readonly from: string;
  readonly amountBase: bigint;
  readonly currency: string;
}

/**
 * Settles a part of a withdrawal: `paidBase` has left the treasury, and `returnedBase` goes back to
 * the account, even if the account is frozen.
 */
export interface SettleCommand extends Common {
  readonly kind: "settle";
  readonly to: string;
  readonly paidBase: bigint;
  readonly returnedBase: bigint;
  readonly currency: string;
}

export type LedgerCommand =
  | TransferCommand
  | BatchCommand
  | FundCommand
  | ReverseCommand
  | WithdrawCommand
  | SettleCommand;

export type LedgerKind = LedgerCommand["kind"] | "open";

export const BATCH_ROWS_MAX = 10_000;
const KEY_LENGTH_MAX = 255;
const SEPARATOR = "\u001f";

export const scopeOf = (command: {
  readonly scope?: string;
  readonly kind: LedgerKind;
}): string => command.scope ?? command.kind;

/** Whether the key has an allowed length, and only characters that PostgreSQL can store. */
export const isUsableKey = (key: string): boolean =>
  key.length > 0 && key.length <= KEY_LENGTH_MAX && !key.includes("\0");

const asUuid = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;

/** SHA-256 of project, scope and key, cut to 128 bits and formatted as a UUID. */
export const keyHashOf = (projectId: string, scope: string, key: string): string =>
  asUuid(hash("sha256", [projectId, scope, key].join(SEPARATOR)));

const rowFields = ({ from, to, amountBase, currency }: TransferRow): string[] => [
  from,
  to,
  amountBase.toString(),
  currency,
];

const fieldsOf = (command: LedgerCommand): string[] => {
  switch (command.kind) {
    case "transfer":
      return rowFields(command);
    case "batch":
      return command.rows.flatMap(rowFields);
    case "fund":
      return [command.to, command.amountBase.toString(), command.currency];
    case "reverse":
      return [command.transactionId];
    case "withdraw":
      return [command.from, command.amountBase.toString(), command.currency];
    case "settle":
      return [
        command.to,
        command.paidBase.toString(),
        command.returnedBase.toString(),
        command.currency,
      ];
  }
};

/** SHA-256 (hex) of the command's content. A key that was used with another digest is refused. */
export const digestOf = (command: LedgerCommand): string =>
  hash("sha256", [command.kind, ...fieldsOf(command)].join(SEPARATOR));

/**
 * `treasury_reserve`: the negated sum of the amounts owed to accounts and in transit.
 * `withdrawal_transit`: withdrawals that are not settled.
 */
export type SystemKind = "treasury_reserve" | "withdrawal_transit";

/**
 * The id (UUIDv8, RFC 9562) of a project's system account for a currency. It is derived from
 * project, currency and kind, so that no query is needed.
 */
export const systemAccountId = (
  projectId: string,
  currency: string,
  kind: SystemKind,
): string => {
  const hex = hash("sha256", [projectId, currency, kind].join(SEPARATOR));
  const variant = "89ab".charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return `ga_${asUuid(`${hex.slice(0, 12)}8${hex.slice(13, 16)}${variant}${hex.slice(17, 32)}`)}`;
};
