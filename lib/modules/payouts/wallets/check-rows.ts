import { getAddress, type Address } from "viem";
import { isReserved, movingContracts } from "@/lib/chains/known-contracts";
import type { ChainRegistry } from "@/lib/chains/registry";
import { DomainError, isDomainError, type ErrorCode, type ErrorDetail } from "@/lib/core/errors";
import { parseAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { EvmAddress } from "@/lib/ports/routing";
import type { WalletRow } from "./rows";

export interface WalletRowInput {
  readonly address: string;
  /** Decimal, in units of the token. */
  readonly amount: string;
  /** Symbol, 0x address, `native`, or CAIP-19. */
  readonly token: string;
  readonly reference?: string | undefined;
  readonly note?: string | undefined;
}

export interface RowsContext {
  readonly registry: ChainRegistry;
  readonly chainId: number;
  readonly treasury: EvmAddress;
  /** Whether the caller may pay this address (a key's list of recipients). */
  readonly mayPay: (recipient: EvmAddress) => boolean;
}

export interface CheckedRows {
  readonly rows: readonly WalletRow[];
  /** Every field at fault, in the order of the rows. `rows` then contains only the valid rows. */
  readonly faults: readonly ErrorDetail[];
}

type Fault = Omit<ErrorDetail, "path"> & { readonly code: ErrorCode };
type Read<T> = { readonly value: T } | { readonly fault: Fault };

export const REFERENCE_LENGTH_MAX = 140;
export const NOTE_LENGTH_MAX = 500;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const ONE_CASE = /^0x([0-9a-f]{40}|[0-9A-F]{40})$/;
/** Control characters, and characters that change the direction of text, which can hide or disguise content. */
const UNSEEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;
export const hasUnseen = (text: string): boolean => UNSEEN.test(text);

const fault = (message: string, code: ErrorCode = "invalid_request"): { fault: Fault } => ({
  fault: { message, code },
});

const NOT_ALLOWED: Fault = { message: "is not in this API key's list of recipients", code: "recipient_not_allowed" };

/** Caches results, so that a text that occurs in many rows is read once. */
const remembered = <T>(read: (text: string) => T): ((text: string) => T) => {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const value = read(text);
    known.set(text, value);
    return value;
  };
};

const caught = <T>(work: () => T): Read<T> => {
  try {
    return { value: work() };
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return fault(error.message, error.code);
  }
};

const readAddress = (context: RowsContext): ((text: string) => Read<EvmAddress>) => {
  const { registry, chainId, treasury, mayPay } = context;
  const tokens = new Map(registry.tokens().map(({ address, symbol }) => [address, symbol]));
  const contracts = movingContracts(registry.get(chainId));
  return (text) => {
    if (!ADDRESS.test(text)) return fault("is no 0x address of 20 bytes");
    const address = getAddress(text.toLowerCase());
    if (address !== text && !ONE_CASE.test(text))
      return fault("has a wrong checksum (EIP-55): look for a mistyped letter");
    if (isReserved(address))
      return fault("is the zero address or a neighbour of it, which nobody holds: the money would be lost");
    const symbol = tokens.get(address);
    if (symbol !== undefined) return fault(`is the contract of the token ${symbol}: the money would be lost`);
    if (contracts.has(address))
      return fault("is a contract that money is moved through: it would be lost, or anybody could take it out");
    if (address === treasury) return fault("is the treasury that pays: nothing would move");
    if (!mayPay(address)) return { fault: NOT_ALLOWED };
    return { value: address };
  };
};

const readText = (text: string | undefined, lengthMax: number): Read<string | null> => {
  const trimmed = text?.trim() ?? "";
  if (trimmed === "") return { value: null };
  if (trimmed.length > lengthMax)
    return fault(`has ${String(trimmed.length)} characters; ${String(lengthMax)} is the most`);
  if (hasUnseen(trimmed)) return fault("has a control character, a line break or a tab");
  return { value: trimmed };
};

/** Decimals for an amount of an unknown token, of which only the form is checked. */
const DECIMALS_MAX = 18;

/** Converts rows to addresses, tokens and base units. Does not throw; the result names every field at fault. */
export const readRows = (input: readonly WalletRowInput[], context: RowsContext): CheckedRows => {
  const { registry, chainId } = context;
  const tokenOf = remembered((ref): Read<Token> => caught(() => registry.resolveToken(chainId, ref)));
  const addressOf = remembered(readAddress(context));
  const faults: ErrorDetail[] = [];
  const rows: WalletRow[] = [];
  input.forEach((row, index) => {
    const found: (Fault & { readonly field: string })[] = [];
    const take = <T>(field: string, read: Read<T>): T | undefined => {
      if ("value" in read) return read.value;
      found.push({ field, ...read.fault });
      return undefined;
    };
    const recipient = take("address", addressOf(row.address));
    const token = take("token", tokenOf(row.token));
    const amountBase = take(
      "amount",
      caught(() => parseAmount(row.amount, token?.decimals ?? DECIMALS_MAX)),
    );
    const reference = take("reference", readText(row.reference, REFERENCE_LENGTH_MAX));
    const note = take("note", readText(row.note, NOTE_LENGTH_MAX));
    for (const { field, ...rest } of found) faults.push({ path: `transfers.${String(index)}.${field}`, ...rest });
    if (recipient && token && amountBase !== undefined && reference !== undefined && note !== undefined)
      rows.push({ recipient, token, amountBase, reference, note });
  });
  return { rows, faults };
};

/** Faults of rows that pay an address outside the caller's list. Invalid addresses are ignored, because `readRows` reports them. */
export const strangersAmong = (
  rows: readonly Pick<WalletRowInput, "address">[],
  mayPay: RowsContext["mayPay"],
): ErrorDetail[] =>
  rows.flatMap(({ address }, index) =>
    !ADDRESS.test(address) || mayPay(getAddress(address.toLowerCase() as Address))
      ? []
      : [{ path: `transfers.${String(index)}.address`, ...NOT_ALLOWED }],
  );

/** The request is refused with one of these codes when all of its faults have that code, and else with `invalid_request`. */
const OWN_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  "amount_precision",
  "unsupported_token",
  "recipient_not_allowed",
  "recipient_frozen",
]);

/** Throws when there are faults. @throws DomainError with a detail for every fault */
export const refuseFaults = (faults: readonly ErrorDetail[], rowCount: number): void => {
  const [first] = faults;
  if (first === undefined) return;
  const bad = new Set(faults.map(({ path }) => path.split(".")[1])).size;
  const message = `${String(bad)} of ${String(rowCount)} rows cannot be paid. Nothing was paid.`;
  const same = faults.every(({ code }) => code === first.code) && OWN_CODES.has(first.code ?? "");
  throw new DomainError(same ? (first.code as ErrorCode) : "invalid_request", message, { details: faults });
};
