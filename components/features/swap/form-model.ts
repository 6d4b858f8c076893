import { z } from "zod";
import {
  checkedBy,
  chosen,
  precisionProblem,
  typedAmountField,
} from "@/components/features/money-flow/field-checks";
import { address } from "@/lib/contracts/common";
import { SLIPPAGE_PROBLEM, slippageBps } from "@/components/features/money-flow/slippage";
import { quoteBody, SOURCES_MAX } from "@/lib/contracts/swap";
import { readAmount } from "@/lib/core/read-amount";
import type { QuoteBody, TokenInfo } from "./tokens";

/**
 * Values of the form: texts as typed, chain ids as strings. `token` is a 0x address or `native`.
 */
export interface SourceValues {
  address: string;
  chainId: string;
  token: string;
  amount: string;
}
export interface SwapValues {
  sources: SourceValues[];
  toChainId: string;
  toToken: string;
  toAddress: string;
  slippage: string;
}

export const SLIPPAGE_WARNING_BPS = 300;

export const findToken = (
  tokens: readonly TokenInfo[],
  chainId: string,
  token: string,
): TokenInfo | undefined =>
  tokens.find((one) => String(one.chainId) === chainId && one.address === token);

/**
 * The checks of the form in the browser. The service checks everything again, and its errors
 * appear at the same fields.
 */
export const swapSchema = (tokens: readonly TokenInfo[]) => {
  const source = z
    .object({
      address: chosen("wallet"),
      chainId: chosen("chain"),
      token: chosen("token"),
      amount: typedAmountField(),
    })
    .superRefine((value, context) => {
      const message = precisionProblem(
        findToken(tokens, value.chainId, value.token),
        value.amount,
      );
      if (message !== null) context.addIssue({ code: "custom", path: ["amount"], message });
    });
  return z
    .object({
      sources: z.array(source).min(1).max(SOURCES_MAX),
      toChainId: chosen("chain"),
      toToken: chosen("token"),
      toAddress: checkedBy(address, "address", "Type the address that gets the tokens."),
      slippage: z.string().refine((text) => slippageBps(text) !== null, SLIPPAGE_PROBLEM),
    })
    .superRefine(({ sources }, context) => {
      for (const index of duplicatesOf(sources)) {
        const message = "This source is listed above already. Add the amounts up instead.";
        context.addIssue({ code: "custom", path: ["sources", index, "token"], message });
      }
    });
};

const duplicatesOf = (sources: readonly SourceValues[]): number[] => {
  const keys = sources.map(({ address: wallet, chainId, token }) =>
    `${wallet}:${chainId}:${token}`.toLowerCase(),
  );
  return keys.flatMap((key, index) => (keys.indexOf(key) < index ? [index] : []));
};

/** The body of `POST /swap/quote`; null until the form is complete and valid. */
export const toQuoteBody = (
  tokens: readonly TokenInfo[],
  values: SwapValues,
): QuoteBody | null => {
  if (!swapSchema(tokens).safeParse(values).success) return null;
  const body = quoteBody.safeParse({
    from: values.sources.map((source) => ({
      address: source.address,
      chainId: Number(source.chainId),
      token: source.token,
      amount: readAmount(source.amount) ?? "",
    })),
    toChainId: Number(values.toChainId),
    toToken: values.toToken,
    toAddress: values.toAddress.trim(),
    slippageBps: slippageBps(values.slippage) ?? undefined,
  });
  return body.success ? body.data : null;
};

const FIELD_PATH =
  /^(from\.\d+(\.(address|chainId|token|amount))?|toChainId|toToken|toAddress|slippageBps)$/;

/**
 * Returns the path when it belongs to a field of the form; `from.0` without a field means the whole
 * row. Other errors are shown below the form.
 */
export const fieldOfPath = (path: string): string | undefined =>
  FIELD_PATH.test(path) ? path : undefined;
