import { z } from "zod";
import {
  checkedBy,
  chosen,
  precisionProblem,
  typedAmountField,
} from "@/components/features/money-flow/field-checks";
import { largestBy } from "@/components/features/swap/decimal";
import type { TokenInfo } from "@/components/features/swap/tokens";
import { messagesByField } from "@/components/ui/form-errors";
import { address } from "@/lib/contracts/common";
import type { BodyInput } from "@/lib/contracts/contract";
import type { createTransfer } from "@/lib/contracts/transfers";
import { readAmount } from "@/lib/core/read-amount";

export type TransferBody = BodyInput<typeof createTransfer>;

/** Values of the form: texts as typed, chain ids as strings. */
export interface TransferValues {
  walletId: string;
  /** The asset, which is the same on all chains. Together with a chain it identifies the token. */
  assetId: string;
  fromChainId: string;
  toChainId: string;
  amount: string;
  toAddress: string;
}

/** The token of an asset on a chain; undefined when the chain does not have the asset. */
export const tokenOf = (
  tokens: readonly TokenInfo[],
  assetId: string,
  chainId: string,
): TokenInfo | undefined =>
  tokens.find((token) => token.assetId === assetId && String(token.chainId) === chainId);

/**
 * The chain that holds most of the asset. The first chain when the balances are unknown or zero.
 */
export const richestChain = (
  chainIds: readonly string[],
  held: (chainId: string) => string | null,
): string => largestBy(chainIds, (chainId) => held(chainId) ?? "0") ?? "";

/**
 * The checks of the form in the browser. The service checks everything again, and its errors
 * appear at the same fields.
 */
export const transferSchema = (tokens: readonly TokenInfo[]) =>
  z
    .object({
      walletId: chosen("wallet"),
      assetId: chosen("token"),
      fromChainId: chosen("chain"),
      toChainId: chosen("chain"),
      amount: typedAmountField(),
      toAddress: checkedBy(
        address,
        "address",
        "Type the address that gets the tokens, or choose a contact.",
      ),
    })
    .superRefine((value, context) => {
      const fail = (path: string, message: string): void =>
        context.addIssue({ code: "custom", path: [path], message });
      const from = tokenOf(tokens, value.assetId, value.fromChainId);
      const to = tokenOf(tokens, value.assetId, value.toChainId);
      if (value.assetId !== "" && value.fromChainId !== "" && from === undefined)
        fail("fromChainId", "This token is not on this chain.");
      if (value.assetId !== "" && value.toChainId !== "" && to === undefined)
        fail("toChainId", "This token is not on this chain. Swap it on the way instead.");
      const problem = precisionProblem(from, value.amount);
      if (problem !== null) fail("amount", problem);
    });

/** The body of `POST /transfers`; null until the form is complete and valid. */
export const toTransferBody = (
  tokens: readonly TokenInfo[],
  values: TransferValues,
): TransferBody | null => {
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

const API_FIELDS: Readonly<Record<string, keyof TransferValues>> = {
  fromWalletId: "walletId",
  token: "assetId",
  fromChainId: "fromChainId",
  toChainId: "toChainId",
  amount: "amount",
  toAddress: "toAddress",
};

/** The messages of the API, by the field of the form. */
export const fieldErrorsOf = (error: unknown) =>
  messagesByField(error, (path) => API_FIELDS[path]);

export type FieldErrors = ReturnType<typeof fieldErrorsOf>["fields"];
