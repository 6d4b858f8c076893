import { z } from "zod";
import { checkedBy, chosen, precisionProblem, typedAmountField } from "@/components/features/money-flow/field-checks";
import type { TokenInfo } from "@/components/features/swap/types";
import { isShownWhole, sentence } from "@/components/ui/form-errors";
import { address } from "@/lib/contracts/common";
import type { BodyInput } from "@/lib/contracts/contract";
import type { createTransfer } from "@/lib/contracts/transfers";
import { readAmount } from "@/lib/core/read-amount";

export type TransferBody = BodyInput<typeof createTransfer>;

/** Values of the form; texts as typed, chains as the selects have them. */
export interface TransferValues {
  walletId: string;
  /** The asset over all chains; which token that is, the chain says. */
  assetId: string;
  fromChainId: string;
  toChainId: string;
  amount: string;
  toAddress: string;
}

/** The token that an asset is on a chain; undefined where it is not there. */
export const tokenOf = (tokens: readonly TokenInfo[], assetId: string, chainId: string): TokenInfo | undefined =>
  tokens.find((token) => token.assetId === assetId && String(token.chainId) === chainId);

export interface AssetInfo {
  readonly assetId: string;
  readonly symbol: string;
  readonly name: string;
  readonly chainIds: readonly string[];
}

/** Each asset once, with the chains where it is. */
export const assetsOf = (tokens: readonly TokenInfo[]): AssetInfo[] =>
  [...new Set(tokens.map((token) => token.assetId))].map((assetId) => {
    const members = tokens.filter((token) => token.assetId === assetId);
    return {
      assetId,
      symbol: members[0]?.symbol ?? assetId,
      name: members[0]?.name ?? assetId,
      chainIds: members.map((token) => String(token.chainId)),
    };
  });

/** The form's own checks; the service checks everything again, and its errors appear at the same fields. */
export const transferSchema = (tokens: readonly TokenInfo[]) =>
  z
    .object({
      walletId: chosen("wallet"),
      assetId: chosen("token"),
      fromChainId: chosen("chain"),
      toChainId: chosen("chain"),
      amount: typedAmountField(),
      toAddress: checkedBy(address, "address", "Type the address that gets the tokens, or choose a contact."),
    })
    .superRefine((value, context) => {
      const fail = (path: string, message: string): void => context.addIssue({ code: "custom", path: [path], message });
      const from = tokenOf(tokens, value.assetId, value.fromChainId);
      const to = tokenOf(tokens, value.assetId, value.toChainId);
      if (value.assetId !== "" && value.fromChainId !== "" && from === undefined)
        fail("fromChainId", "This token is not on this chain.");
      if (value.assetId !== "" && value.toChainId !== "" && to === undefined)
        fail("toChainId", "This token is not on this chain. Swap it on the way instead.");
      const problem = precisionProblem(from, value.amount);
      if (problem !== null) fail("amount", problem);
    });

/** The body of `POST /transfers`; null until everything is there and right. */
export const toTransferBody = (tokens: readonly TokenInfo[], values: TransferValues): TransferBody | null => {
  const token = tokenOf(tokens, values.assetId, values.fromChainId);
  if (token === undefined || !transferSchema(tokens).safeParse(values).success) return null;
  return {
    fromWalletId: values.walletId,
    fromChainId: Number(values.fromChainId),
    toChainId: Number(values.toChainId),
    token: token.address,
    amount: readAmount(values.amount) ?? "",
    toAddress: values.toAddress.trim(),
  };
};

/** Field of the form → what the API calls it in `details`. */
const API_FIELDS = {
  fromWalletId: "walletId",
  token: "assetId",
  fromChainId: "fromChainId",
  toChainId: "toChainId",
  amount: "amount",
  toAddress: "toAddress",
} as const satisfies Partial<Record<keyof TransferBody, keyof TransferValues>>;

interface Detail {
  readonly path: string;
  readonly message: string;
}

export interface FieldErrors {
  readonly fields: Readonly<Partial<Record<keyof TransferValues, string>>>;
  /** Whether the fields say everything that the error says. */
  readonly complete: boolean;
}

/** The messages that the API gave in `details`, by the field of the form. */
export const fieldErrorsOf = (details: readonly Detail[], code: string | null = null): FieldErrors => {
  const fields: Partial<Record<keyof TransferValues, string>> = {};
  let complete = details.length > 0 && !isShownWhole(code);
  for (const { path, message } of details) {
    if (path in API_FIELDS) fields[API_FIELDS[path as keyof typeof API_FIELDS]] ??= sentence(message);
    else complete = false;
  }
  return { fields, complete };
};
