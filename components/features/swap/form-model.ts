import { z } from "zod";
import { checkedBy, chosen, precisionProblem, typedAmountField } from "@/components/features/money-flow/field-checks";
import { address } from "@/lib/contracts/common";
import { quoteBody, SLIPPAGE_BPS_MAX, SOURCES_MAX } from "@/lib/contracts/swap";
import { readAmount } from "@/lib/core/read-amount";
import { percentText } from "./decimal";
import type { QuoteBody, TokenInfo } from "./types";

/** Values of the form; texts as typed, chains as the selects have them. `token` is a 0x address or `native`. */
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

/** `0.5` per cent → 50; null when it is no number of at most two digits after the point. */
export const slippageBps = (text: string): number | null => {
  const [, whole, fraction = ""] = /^(\d{1,2})(?:\.(\d{1,2}))?$/.exec(text.trim()) ?? [];
  return whole === undefined ? null : Number(whole) * 100 + Number(fraction.padEnd(2, "0"));
};

export const findToken = (tokens: readonly TokenInfo[], chainId: string, token: string): TokenInfo | undefined =>
  tokens.find((one) => String(one.chainId) === chainId && one.address === token);

/** The same asset on another chain, where it is there under maybe another address; else empty. */
export const tokenOnChain = (
  tokens: readonly TokenInfo[],
  from: { readonly chainId: string; readonly token: string },
  chainId: string,
): string => {
  const asset = findToken(tokens, from.chainId, from.token)?.assetId;
  return tokens.find((one) => String(one.chainId) === chainId && one.assetId === asset)?.address ?? "";
};

/** The form's own checks; the service checks everything again, and its errors appear at the same fields. */
export const swapSchema = (tokens: readonly TokenInfo[]) => {
  const source = z
    .object({
      address: chosen("wallet"),
      chainId: chosen("chain"),
      token: chosen("token"),
      amount: typedAmountField(),
    })
    .superRefine((value, context) => {
      const message = precisionProblem(findToken(tokens, value.chainId, value.token), value.amount);
      if (message !== null) context.addIssue({ code: "custom", path: ["amount"], message });
    });
  return z
    .object({
      sources: z.array(source).min(1).max(SOURCES_MAX),
      toChainId: chosen("chain"),
      toToken: chosen("token"),
      toAddress: checkedBy(address, "address", "Type the address that gets the tokens."),
      slippage: z.string().refine(
        (text) => {
          const bps = slippageBps(text);
          return bps !== null && bps <= SLIPPAGE_BPS_MAX;
        },
        `Type a percentage from 0 to ${percentText(SLIPPAGE_BPS_MAX)}, with at most two digits after the point.`,
      ),
    })
    .superRefine(({ sources }, context) => {
      for (const index of duplicatesOf(sources)) {
        const message = "This source is listed above already. Add the amounts up instead.";
        context.addIssue({ code: "custom", path: ["sources", index, "token"], message });
      }
    });
};

const duplicatesOf = (sources: readonly SourceValues[]): number[] => {
  const keys = sources.map(({ address: wallet, chainId, token }) => `${wallet}:${chainId}:${token}`.toLowerCase());
  return keys.flatMap((key, index) => (keys.indexOf(key) < index ? [index] : []));
};

/** The body of `POST /swap/quote`; null until everything is there and right. */
export const toQuoteBody = (tokens: readonly TokenInfo[], values: SwapValues): QuoteBody | null => {
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
