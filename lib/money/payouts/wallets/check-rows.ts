import { getAddress, type Address } from "viem";
import type { ChainRegistry } from "@/lib/chain/registry";
import { notAnAddress } from "@/lib/core/address-words";
import { isDomainError, type ErrorCode, type ErrorDetail } from "@/lib/core/errors";
import { parseAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { RecipientsService } from "@/lib/trust/recipients/service";
import type { EvmAddress } from "@/lib/core/evm";
import type { WalletRow } from "./rows";

export interface WalletRowInput {
  readonly address: string;
  /** Decimal text in units of the token, such as `12.50`. */
  readonly amount: string;
  /** The token as a symbol, a 0x address, `native` or a CAIP-19 id. */
  readonly token: string;
  readonly reference?: string | undefined;
  readonly note?: string | undefined;
}

export interface RowsContext {
  readonly registry: Pick<ChainRegistry, "resolveToken">;
  readonly recipients: Pick<RecipientsService, "refusals">;
  readonly chainId: number;
  readonly treasury: EvmAddress;
  /** Whether the caller may pay this address. An API key may have a list of allowed recipients. */
  readonly mayPay: (recipient: EvmAddress) => boolean;
}

export interface CheckedRows {
  readonly rows: readonly WalletRow[];
  /** Every invalid field, in the order of the rows. `rows` contains only the valid rows. */
  readonly faults: readonly ErrorDetail[];
}

type Fault = Omit<ErrorDetail, "path"> & { readonly code: ErrorCode };
type Read<T> = { readonly value: T } | { readonly fault: Fault };

export const REFERENCE_LENGTH_MAX = 140;
export const NOTE_LENGTH_MAX = 500;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const ONE_CASE = /^0x([0-9a-f]{40}|[0-9A-F]{40})$/;
/**
 * Matches control characters, and characters that change the direction of text, because both can
 * hide or disguise text.
 */
const UNSEEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;
export const hasUnseen = (text: string): boolean => UNSEEN.test(text);

const fault = (message: string, code: ErrorCode = "invalid_request"): { fault: Fault } => ({
  fault: { message, code },
});

const NOT_ALLOWED: Fault = {
  message: "is not in this API key's list of recipients",
  code: "recipient_not_allowed",
};

const remembered = <T>(read: (text: string) => T): ((text: string) => T) => {
  const cache = new Map<string, T>();
  return (text) => {
    const before = cache.get(text);
    if (before !== undefined) return before;
    const value = read(text);
    cache.set(text, value);
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
  const { recipients, chainId, treasury, mayPay } = context;
  const refusalOf = recipients.refusals([chainId]);
  return (text) => {
    if (!ADDRESS.test(text)) return fault(notAnAddress(text));
    const address = getAddress(text.toLowerCase());
    if (address !== text && !ONE_CASE.test(text))
      return fault("has a wrong checksum (EIP-55): look for a mistyped letter");
    const refused = refusalOf(address);
    if (refused !== null) return fault(refused);
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

/** The decimals with which an amount is parsed to check its form when its token is unknown. */
const DECIMALS_MAX = 18;

/**
 * Converts rows to addresses, tokens and base units. Does not throw: the result names every invalid
 * field.
 */
export const readRows = (
  input: readonly WalletRowInput[],
  context: RowsContext,
): CheckedRows => {
  const { registry, chainId } = context;
  const tokenOf = remembered((ref): Read<Token> =>
    caught(() => registry.resolveToken(chainId, ref)),
  );
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
    for (const { field, ...rest } of found)
      faults.push({ path: `transfers.${String(index)}.${field}`, ...rest });
    if (
      recipient &&
      token &&
      amountBase !== undefined &&
      reference !== undefined &&
      note !== undefined
    )
      rows.push({ recipient, token, amountBase, reference, note });
  });
  return { rows, faults };
};

/**
 * Returns a fault for each row that pays an address outside the caller's list. Ignores invalid
 * addresses, because `readRows` reports them.
 */
export const strangersAmong = (
  rows: readonly Pick<WalletRowInput, "address">[],
  mayPay: RowsContext["mayPay"],
): ErrorDetail[] =>
  rows.flatMap(({ address }, index) =>
    !ADDRESS.test(address) || mayPay(getAddress(address.toLowerCase() as Address))
      ? []
      : [{ path: `transfers.${String(index)}.address`, ...NOT_ALLOWED }],
  );
