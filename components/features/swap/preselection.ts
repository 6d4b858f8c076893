import { isSameText } from "@/lib/core/same-text";
import { isZero, usdValue } from "./decimal";
import { findToken, type SourceValues } from "./form-model";
import type { TokenInfo } from "./tokens";
import { balanceReader, type HeldPlace, placeKey, type SwapSetup } from "./use-swap-setup";

/** The amount of one token that one wallet has on one chain. */
export interface Holding extends HeldPlace {
  readonly info: TokenInfo;
  readonly wallet: SwapSetup["wallets"][number];
  /** The amount that may be moved now; null while it is unknown. */
  readonly amount: string | null;
  /** Worth of the amount in US dollars; null when unknown. */
  readonly usd: string | null;
}

/**
 * The worth by which holdings are sorted. It is only used for sorting, so floats are precise
 * enough. Tokens without a price come after tokens with a price.
 */
const worth = ({ amount, usd }: Holding): number =>
  amount === null ? 0 : Number(usd ?? Number(amount) / Number.MAX_SAFE_INTEGER);

export const isHeld = ({ amount }: Pick<Holding, "amount">): boolean =>
  amount !== null && !isZero(amount);

type HoldingsOf = Pick<SwapSetup, "wallets" | "treasury" | "tokens" | "balances">;

/**
 * Every token of every wallet, highest value first. Holdings of equal value keep the order of the
 * configuration, and the treasury comes before other wallets.
 */
export const holdingsOf = ({ wallets, treasury, tokens, balances }: HoldingsOf): Holding[] => {
  const amountAt = balanceReader(balances);
  const others = wallets.filter((wallet) => wallet !== treasury);
  const ordered = treasury === undefined ? others : [treasury, ...others];
  const all = ordered.flatMap((wallet) =>
    tokens.map((info): Holding => {
      const at = {
        address: wallet.address,
        chainId: String(info.chainId),
        token: info.address,
      };
      const amount = amountAt(at);
      const usd = amount === null ? null : usdValue(amount, info.priceUsd);
      return { ...at, info, wallet, amount, usd };
    }),
  );
  const held = all.filter(isHeld).sort((one, other) => worth(other) - worth(one));
  return [...held, ...all.filter((one) => !isHeld(one))];
};

/** A token as the form names it. */
export interface ChosenToken {
  readonly chainId: string;
  readonly token: string;
}

export const isSameToken = (one: ChosenToken, other: ChosenToken): boolean =>
  one.chainId === other.chainId && one.token === other.token;

const DOLLAR = "USDC";
const OTHER_THAN_DOLLAR = "WETH";

/**
 * The default token that a source is swapped into: WETH for USDC, and USDC for every other token. A
 * token on the source's chain is preferred. When the default is not configured, any other asset is
 * taken.
 */
export const counterpartOf = (
  tokens: readonly TokenInfo[],
  from: ChosenToken,
): ChosenToken | undefined => {
  const sent = findToken(tokens, from.chainId, from.token);
  if (sent === undefined) return undefined;
  const wanted = isSameText(sent.symbol, DOLLAR) ? OTHER_THAN_DOLLAR : DOLLAR;
  const isNear = (token: TokenInfo): boolean => token.chainId === sent.chainId;
  const named = tokens.filter(({ symbol }) => isSameText(symbol, wanted));
  const others = tokens.filter(({ assetId }) => assetId !== sent.assetId);
  const found = named.find(isNear) ?? named[0] ?? others.find(isNear) ?? others[0];
  return found === undefined
    ? undefined
    : { chainId: String(found.chainId), token: found.address };
};

const EMPTY = { address: "", chainId: "", token: "", amount: "" };

/**
 * The source with the highest value that the form does not have yet. When there is none, an empty
 * source with the treasury's address.
 * @param used sources that the form has already
 * @param target the token that is received, which cannot be sent
 */
export const nextSource = (
  setup: HoldingsOf,
  used: readonly HeldPlace[],
  target?: ChosenToken,
): SourceValues => {
  const keys = new Set(used.map(placeKey));
  const found = holdingsOf(setup).find(
    (one) =>
      !keys.has(placeKey(one)) &&
      (target === undefined || !isSameToken(one, target)) &&
      (used.length === 0 || isHeld(one)),
  );
  if (found === undefined) return { ...EMPTY, address: setup.treasury?.address ?? "" };
  const { address, chainId, token } = found;
  return { address, chainId, token, amount: "" };
};

interface Preselected {
  readonly source: SourceValues;
  readonly target: ChosenToken;
}

/** The source with the highest value, and the token that it is swapped into. */
export const preselectionOf = (setup: HoldingsOf): Preselected => {
  const source = nextSource(setup, []);
  const target = counterpartOf(setup.tokens, source);
  return { source, target: target ?? { chainId: "", token: "" } };
};
