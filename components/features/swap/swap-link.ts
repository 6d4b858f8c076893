import { compareAmounts } from "./decimal";
import type { SwapValues } from "./form-model";
import { balanceOf, type SwapSetup } from "./use-swap-setup";
import { typedAmount } from "@/lib/core/read-amount";

/** The wallet, chain and token that a link such as `/swap?from=USDC&amount=12.5` names; names that are not known are left out. */
interface Place {
  readonly address: string;
  readonly chainId: string;
  readonly token: string;
}

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

const tokensNamed = (setup: SwapSetup, name: string, chain: string | null) =>
  setup.tokens.filter(
    (token) =>
      (same(token.symbol, name) || same(token.address, name)) && (chain === null || String(token.chainId) === chain),
  );

/** Where most of the token lies in the wallet, where the link names no chain. */
const placeOf = (setup: SwapSetup, query: URLSearchParams): Place | null => {
  const name = query.get("from");
  const wanted = query.get("wallet");
  const wallet =
    setup.wallets.find(({ id, address }) => wanted !== null && (id === wanted || same(address, wanted))) ??
    setup.treasury;
  if (name === null || wallet === undefined) return null;
  const places = tokensNamed(setup, name, query.get("chain")).map((token) => ({
    address: wallet.address,
    chainId: String(token.chainId),
    token: token.address,
  }));
  const held = (place: Place): string => balanceOf(setup.balances, place) ?? "0";
  return places.reduce<Place | null>(
    (best, place) => (best === null || compareAmounts(held(place), held(best)) === 1 ? place : best),
    null,
  );
};

const AMOUNT = /^\d+(\.\d+)?$/;

/** The form as a link asks for it; null where the link asks for nothing. `defaults` fills the rest. */
export const valuesOfLink = (setup: SwapSetup, search: string, defaults: SwapValues): SwapValues | null => {
  const query = new URLSearchParams(search);
  const place = placeOf(setup, query);
  const amount = query.get("amount") ?? "";
  const to = query.get("to");
  const [target] = to === null ? [] : tokensNamed(setup, to, query.get("toChain"));
  if (place === null && target === undefined) return null;
  const [first] = defaults.sources;
  if (first === undefined) return null;
  return {
    ...defaults,
    sources: [{ ...first, ...place, amount: AMOUNT.test(amount) ? typedAmount(amount) : "" }],
    ...(target === undefined ? {} : { toChainId: String(target.chainId), toToken: target.address }),
  };
};
