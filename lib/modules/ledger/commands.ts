import { hash } from "node:crypto";

/** JSON that travels with a transaction and means nothing to the ledger: a memo, what it was for. */
export type LedgerData = Readonly<Record<string, string | number | boolean | null>>;

interface Common {
  readonly projectId: string;
  /** 1–255 characters. The same key in the same scope is decided once; its answer is kept, refusals too. */
  readonly key: string;
  /** Keys of different scopes do not meet. Default: the kind of command. */
  readonly scope?: string;
  /** Who asked, for the record. */
  readonly by: string;
  readonly data?: LedgerData;
}

/** One row of a transfer: base units from one customer's account to another's, both of this currency. */
export interface TransferRow {
  readonly from: string;
  readonly to: string;
  readonly amountBase: bigint;
  /** The asset's id. */
  readonly currency: string;
}

export interface TransferCommand extends Common, TransferRow {
  readonly kind: "transfer";
}

/** All rows or none, as one transaction. Rows in a run with the same source share one debit. */
export interface BatchCommand extends Common {
  readonly kind: "batch";
  readonly rows: readonly TransferRow[];
}

/** Moves money of the project's treasury into an account. */
export interface FundCommand extends Common {
  readonly kind: "fund";
  readonly to: string;
  readonly amountBase: bigint;
  readonly currency: string;
  /**
   * What all liabilities of the currency may come to afterwards, decided under the lock of the reserve's account; null asks
   * nothing. Not part of the request: two readings of the chain differ, the request does not.
   */
  readonly liabilitiesMaxBase: bigint | null;
}

/** Sets money aside, until it is posted, voided or the time is over. */
export interface HoldCommand extends Common {
  readonly kind: "hold";
  readonly accountId: string;
  readonly amountBase: bigint;
  readonly currency: string;
  readonly expiresAt: Date;
}

/** Moves what was set aside, or a part of it, to an account; the rest becomes available again. */
export interface PostHoldCommand extends Common {
  readonly kind: "post";
  readonly holdId: string;
  readonly to: string;
  /** Null: all of it. */
  readonly amountBase: bigint | null;
}

export interface EndHoldCommand extends Common {
  /** `expire` is refused before the hold's time. */
  readonly kind: "void" | "expire";
  readonly holdId: string;
}

/** Takes back a transfer, batch, funding or posted hold, once, by a transaction that mirrors it. Frozen accounts do not stop it. */
export interface ReverseCommand extends Common {
  readonly kind: "reverse";
  readonly transactionId: string;
}

export type LedgerCommand =
  TransferCommand | BatchCommand | FundCommand | HoldCommand | PostHoldCommand | EndHoldCommand | ReverseCommand;

export type LedgerKind = LedgerCommand["kind"] | "open";

export const BATCH_ROWS_MAX = 10_000;
const KEY_LENGTH_MAX = 255;
const SEPARATOR = "\u001f";

export const scopeOf = (command: { readonly scope?: string; readonly kind: LedgerKind }): string =>
  command.scope ?? command.kind;

/** Whether PostgreSQL can store it and a person can name it. */
export const isUsableKey = (key: string): boolean =>
  key.length > 0 && key.length <= KEY_LENGTH_MAX && !key.includes("\0");

const asUuid = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;

/** SHA-256 of project, scope and key, cut to 128 bits, in the form of a UUID. */
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
    case "hold":
      return [command.accountId, command.amountBase.toString(), command.currency, command.expiresAt.toISOString()];
    case "post":
      return [command.holdId, command.to, command.amountBase?.toString() ?? ""];
    case "void":
    case "expire":
      return [command.holdId];
    case "reverse":
      return [command.transactionId];
  }
};

/** SHA-256 (hex) of what the command moves: the same key with another digest is another request. */
export const digestOf = (command: LedgerCommand): string =>
  hash("sha256", [command.kind, ...fieldsOf(command)].join(SEPARATOR));

/**
 * The id of a project's system account of a currency: made from what it is, so that nobody has to look it up. A UUIDv8 (RFC 9562).
 */
export const systemAccountId = (projectId: string, currency: string, kind: "treasury_reserve"): string => {
  const hex = hash("sha256", [projectId, currency, kind].join(SEPARATOR));
  const variant = "89ab".charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return `ga_${asUuid(`${hex.slice(0, 12)}8${hex.slice(13, 16)}${variant}${hex.slice(17, 32)}`)}`;
};
