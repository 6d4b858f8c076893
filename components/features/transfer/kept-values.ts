import { z } from "zod";
import { compareAmounts } from "@/components/features/swap/decimal";
import { balanceOf, type SwapSetup } from "@/components/features/swap/use-swap-setup";
import { typedAmount } from "@/lib/core/read-amount";
import type { TransferValues } from "./form-model";

const KEY = "causeway.transfer.draft";

const draft = z.object({
  walletId: z.string(),
  assetId: z.string(),
  fromChainId: z.string(),
  toChainId: z.string(),
  amount: z.string(),
  toAddress: z.string(),
});

/** The values typed in this tab; null when there are none to go on with. A draft of another wallet was typed by somebody else. */
export const readTransferDraft = (walletIds: readonly string[]): TransferValues | null => {
  try {
    const found = draft.parse(JSON.parse(sessionStorage.getItem(KEY) ?? "null"));
    return walletIds.includes(found.walletId) ? found : null;
  } catch {
    return null;
  }
};

export const saveTransferDraft = (values: TransferValues): void => {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(values));
  } catch {
    // A browser that keeps nothing only loses the convenience.
  }
};

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
const AMOUNT = /^\d+(\.\d+)?$/;

/** The form as a link such as `/transfer?token=USDC&chain=1&wallet=wal_…&amount=5&recipient=0x…` asks for it; null where it asks for nothing. */
export const valuesOfTransferLink = (
  setup: SwapSetup,
  search: string,
  defaults: TransferValues,
): TransferValues | null => {
  const query = new URLSearchParams(search);
  const [name, chain, wanted] = [query.get("token"), query.get("chain"), query.get("wallet")];
  const wallet =
    setup.wallets.find(({ id }) => id === wanted) ?? setup.wallets.find(({ id }) => id === defaults.walletId);
  const tokens = setup.tokens.filter(
    (token) =>
      name !== null &&
      (same(token.symbol, name) || same(token.address, name)) &&
      (chain === null || String(token.chainId) === chain),
  );
  const recipient = query.get("recipient");
  if (wallet === undefined || (tokens.length === 0 && recipient === null)) return null;
  const held = (token: (typeof tokens)[number]): string =>
    balanceOf(setup.balances, { address: wallet.address, chainId: String(token.chainId), token: token.address }) ?? "0";
  const [first, ...rest] = tokens;
  // Where most of it lies, when the link names no chain.
  const token = first && rest.reduce((best, one) => (compareAmounts(held(one), held(best)) === 1 ? one : best), first);
  const amount = query.get("amount") ?? "";
  return {
    ...defaults,
    walletId: wallet.id,
    ...(token === undefined
      ? {}
      : { assetId: token.assetId, fromChainId: String(token.chainId), toChainId: String(token.chainId) }),
    amount: AMOUNT.test(amount) ? typedAmount(amount) : "",
    ...(recipient === null ? {} : { toAddress: recipient }),
  };
};
