import {
  KIND_WORDS,
  walletName,
  walletOption,
  type WalletRecord,
} from "@/components/features/wallets/use-wallets";
import { AddressMark, shorten } from "@/components/ui/address";
import { isSameText } from "@/lib/core/same-text";
import { type ChosenToken, type Holding, holdingsOf, isHeld } from "./preselection";
import type { TokenChoice } from "./token-chooser";
import type { TokenInfo } from "./tokens";
import { placeKey, type SwapSetup } from "./use-swap-setup";

export const chainNameOf = ({ chains }: SwapSetup, chainId: string): string =>
  chains.find(({ id }) => String(id) === chainId)?.name ?? `Chain ${chainId}`;

const tokenWords = ({ name, address }: TokenInfo): string[] => [name, address];

const groupOf = (holding: Holding): string | undefined => {
  if (isHeld(holding)) return undefined;
  return holding.amount === null ? "Balance not known" : "Nothing available";
};

const sourceChoice = (setup: SwapSetup, holding: Holding): TokenChoice => {
  const { info, wallet, amount, usd } = holding;
  return {
    key: placeKey(holding),
    symbol: info.symbol,
    chainName: chainNameOf(setup, holding.chainId),
    description: walletOption(wallet).label,
    mark: <AddressMark value={wallet.address} className="size-3.5" />,
    amount,
    usd: isHeld(holding) ? usd : null,
    group: groupOf(holding),
    keywords: [...tokenWords(info), KIND_WORDS[wallet.kind], wallet.address],
  };
};

/** Every token of every wallet, highest value first. */
export const sourceChoices = (setup: SwapSetup): TokenChoice[] =>
  holdingsOf(setup).map((holding) => sourceChoice(setup, holding));

export const targetKey = ({ chainId, token }: ChosenToken): string => `${chainId} ${token}`;

/**
 * Every token that can be received. When a wallet of the project receives the token, the tokens
 * that this wallet holds come first.
 * @param recipient address of that wallet; null for other recipients
 */
export const targetChoices = (setup: SwapSetup, recipient: string | null): TokenChoice[] => {
  const wallet = setup.wallets.find(({ address }) => isSameText(address, recipient ?? ""));
  const offered: readonly Pick<Holding, "info" | "amount" | "usd">[] =
    wallet === undefined
      ? setup.tokens.map((info) => ({ info, amount: null, usd: null }))
      : holdingsOf({ ...setup, wallets: [wallet], treasury: undefined });
  return offered.map(({ info, amount, usd }) => ({
    key: targetKey({ chainId: String(info.chainId), token: info.address }),
    symbol: info.symbol,
    chainName: chainNameOf(setup, String(info.chainId)),
    description:
      info.address === "native"
        ? `${info.name}, native`
        : `${info.name}, ${shorten(info.address)}`,
    amount: isHeld({ amount }) ? amount : null,
    usd: isHeld({ amount }) ? usd : null,
    keywords: [info.address],
  }));
};

/** The token of a key from `targetChoices`. */
export const targetOfKey = (
  tokens: readonly TokenInfo[],
  key: string,
): ChosenToken | undefined =>
  tokens
    .map((info) => ({ chainId: String(info.chainId), token: info.address }))
    .find((chosen) => targetKey(chosen) === key);

/** The name of a wallet, with its address when another wallet has the same name. */
export const distinctWalletName = (
  wallets: readonly WalletRecord[],
  wallet: WalletRecord,
): string => {
  const name = walletName(wallet);
  const isOnly = wallets.filter((one) => walletName(one) === name).length === 1;
  return isOnly ? name : `${name} ${shorten(wallet.address)}`;
};
