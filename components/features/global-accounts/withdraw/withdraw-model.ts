/** The form of a withdrawal, which pays an amount from an account to an address on one chain. */
import { z } from "zod";
import {
  checkedBy,
  chosen,
  precisionProblem,
  typedAmountField,
} from "@/components/features/money-flow/field-checks";
import type { Spendable } from "@/components/features/money-flow/spendable";
import { compareAmounts } from "@/components/features/swap/decimal";
import type { TokenInfo } from "@/components/features/swap/tokens";
import { freeOf, type SwapSetup } from "@/components/features/swap/use-swap-setup";
import { tokenOf } from "@/components/features/transfer/form-model";
import { sentence } from "@/components/ui/form-errors";
import { address } from "@/lib/contracts/common";
import type { BodyInput } from "@/lib/contracts/contract";
import type { createWalletsPayout } from "@/lib/contracts/payouts";
import { readAmount } from "@/lib/core/read-amount";
import type { Account } from "../account";

export type WithdrawBody = BodyInput<typeof createWalletsPayout>;

export interface WithdrawValues {
  chainId: string;
  amount: string;
  toAddress: string;
  reference: string;
}

const REFERENCE_MAX = 140;

/** Checks the form in the browser. The service repeats the checks. */
export const withdrawSchema = (tokens: readonly TokenInfo[], assetId: string) =>
  z
    .object({
      chainId: chosen("chain"),
      amount: typedAmountField(),
      toAddress: checkedBy(
        address,
        "address",
        "Type the address that gets the money, or choose a contact.",
      ),
      reference: z
        .string()
        .max(REFERENCE_MAX, `A reference has ${String(REFERENCE_MAX)} characters at most.`),
    })
    .superRefine(({ chainId, amount }, context) => {
      const problem = precisionProblem(tokenOf(tokens, assetId, chainId), amount);
      if (problem !== null)
        context.addIssue({ code: "custom", path: ["amount"], message: problem });
    });

/** The body of `POST /payouts/bulk/wallets`; null while the form has errors. */
export const toWithdrawBody = (
  tokens: readonly TokenInfo[],
  account: Pick<Account, "id" | "assetId">,
  values: WithdrawValues,
): WithdrawBody | null => {
  const token = tokenOf(tokens, account.assetId, values.chainId);
  if (token === undefined || !withdrawSchema(tokens, account.assetId).safeParse(values).success)
    return null;
  const reference = values.reference.trim();
  return {
    sourceAccountId: account.id,
    chainId: token.chainId,
    reference: reference === "" ? undefined : reference,
    transfers: [
      {
        address: values.toAddress.trim(),
        amount: readAmount(values.amount) ?? "",
        token: token.address,
      },
    ],
  };
};

/**
 * The amount of the asset that a withdrawal may take from the treasury on a chain; null when
 * unknown.
 */
export const treasuryHas = (
  setup: SwapSetup,
  assetId: string,
  chainId: string,
): string | null => {
  const token = tokenOf(setup.tokens, assetId, chainId);
  if (token === undefined || setup.treasury === undefined) return null;
  return freeOf(setup.balances, {
    address: setup.treasury.address,
    chainId,
    token: token.address,
  });
};

export const withdrawable = (account: Account, inTreasury: string | null): Spendable => {
  if (inTreasury === null) return { amount: null, backing: null };
  const { available } = account.balance;
  return {
    amount: compareAmounts(available, inTreasury) === 1 ? inTreasury : available,
    backing: null,
  };
};

/** Why this amount cannot be withdrawn on this chain, as a sentence; null when it can. */
export const shortReason = (
  account: Account,
  inTreasury: string | null,
  typed: string,
): string | null => {
  const amount = readAmount(typed);
  if (amount === null) return null;
  if (compareAmounts(amount, account.balance.available) === 1)
    return "The account has less than that available.";
  if (inTreasury !== null && compareAmounts(amount, inTreasury) === 1)
    return "The treasury holds less than that on this chain. Choose another chain, or bring money there with a transfer.";
  return null;
};

const API_FIELDS: Readonly<Record<string, keyof WithdrawValues>> = {
  chainId: "chainId",
  sourceAccountId: "amount",
  "transfers.0.amount": "amount",
  "transfers.0.token": "chainId",
  "transfers.0.address": "toAddress",
  reference: "reference",
};

/**
 * For a path in the API's error, the words that are put before its message, because the message
 * does not name its subject.
 */
const SUBJECTS: Readonly<Record<string, string>> = {
  "transfers.0.address": "The address ",
  "transfers.0.token": "The token ",
};

type FieldMessages = Readonly<Partial<Record<keyof WithdrawValues, string>>>;

export const fieldMessagesOf = (
  details: readonly { readonly path: string; readonly message: string }[],
): FieldMessages =>
  Object.fromEntries(
    details.flatMap(({ path, message }) => {
      const field = API_FIELDS[path];
      if (field === undefined) return [];
      const subject = SUBJECTS[path] ?? "";
      return [[field, sentence(`${subject}${message}`)]];
    }),
  );
