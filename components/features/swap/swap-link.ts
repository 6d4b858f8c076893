import { typedAmount } from "@/lib/core/read-amount";
import { isSameText } from "@/lib/core/same-text";
import { largestBy } from "./decimal";
import type { SwapValues } from "./form-model";
import { counterpartOf, isSameToken, nextSource } from "./preselection";
import type { TokenInfo } from "./tokens";
import { balanceOf, type SwapSetup } from "./use-swap-setup";

/** The wallet, chain and token that a link such as `/swap?from=USDC&amount=12.5` names. */
interface Place {
  readonly address: string;
  readonly chainId: string;
  readonly token: string;
}

/** The tokens with this symbol or address. When `chain` is not null, only tokens on this chain. */
export const tokensNamed = (
  tokens: readonly TokenInfo[],
  name: string | null,
  chain: string | null,
): TokenInfo[] =>
  name === null
    ? []
    : tokens.filter(
        (token) =>
          (isSameText(token.symbol, name) || isSameText(token.address, name)) &&
          (chain === null || String(token.chainId) === chain),
      );

const AMOUNT = /^\d+(\.\d+)?$/;

/** The amount of a link in the format of the person's locale; empty when the link has none. */
export const linkedAmount = (query: URLSearchParams): string => {
  const amount = query.get("amount") ?? "";
  return AMOUNT.test(amount) ? typedAmount(amount) : "";
};

/**
 * The source that a link names. Without a chain, the chain with the largest balance of the token is
 * used.
 */
const placeOf = (setup: SwapSetup, query: URLSearchParams): Place | undefined => {
  const wanted = query.get("wallet");
  const wallet =
    setup.wallets.find(
      ({ id, address }) => wanted !== null && (id === wanted || isSameText(address, wanted)),
    ) ?? setup.treasury;
  if (wallet === undefined) return undefined;
  const tokens = tokensNamed(setup.tokens, query.get("from"), query.get("chain"));
  const places = tokens.map((token) => ({
    address: wallet.address,
    chainId: String(token.chainId),
    token: token.address,
  }));
  return largestBy(places, (place) => balanceOf(setup.balances, place) ?? "0");
};

/**
 * Values of the form that a link sets; null when it sets none. Unknown names are ignored, and
 * `defaults` provides the other values. When the link names only a source, the token that is
 * received follows from it.
 */
export const valuesOfLink = (
  setup: SwapSetup,
  search: string,
  defaults: SwapValues,
): SwapValues | null => {
  const query = new URLSearchParams(search);
  const place = placeOf(setup, query);
  const [named] = tokensNamed(setup.tokens, query.get("to"), query.get("toChain"));
  if (place === undefined && named === undefined) return null;
  const [first] = defaults.sources;
  if (first === undefined) return null;
  const target =
    named === undefined ? undefined : { chainId: String(named.chainId), token: named.address };
  const isReceived = target !== undefined && isSameToken(first, target);
  const chosen = isReceived ? nextSource(setup, [], target) : first;
  const source = place ?? chosen;
  const { chainId, token } = target ??
    counterpartOf(setup.tokens, source) ?? {
      chainId: defaults.toChainId,
      token: defaults.toToken,
    };
  return {
    ...defaults,
    sources: [{ ...first, ...source, amount: linkedAmount(query) }],
    toChainId: chainId,
    toToken: token,
  };
};
