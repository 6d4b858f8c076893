"use client";

import { useMemo } from "react";
import type { UseFormReturn } from "react-hook-form";
import { z } from "zod";
import type { Spendable } from "@/components/features/money-flow/spendable";
import { useMoneyForm } from "@/components/features/money-flow/use-money-form";
import {
  compareAmounts,
  largestBy,
  sumAmounts,
  usdValue,
} from "@/components/features/swap/decimal";
import { holdingsOf, isHeld } from "@/components/features/swap/preselection";
import { linkedAmount, tokensNamed } from "@/components/features/swap/swap-link";
import { type AssetInfo, assetsOf } from "@/components/features/swap/tokens";
import {
  balanceOf,
  spendableAt,
  type SwapSetup,
} from "@/components/features/swap/use-swap-setup";
import type { WalletRecord } from "@/components/features/wallets/use-wallets";
import { tabStore } from "@/components/ui/tab-store";
import {
  richestChain,
  tokenOf,
  toTransferBody,
  type TransferBody,
  transferSchema,
  type TransferValues,
} from "./form-model";

export interface TransferForm {
  readonly form: UseFormReturn<TransferValues>;
  readonly values: TransferValues;
  readonly wallet: WalletRecord | undefined;
  /** Null until the form is complete and valid. */
  readonly body: TransferBody | null;
  /** Sets and validates a field that is not a text input. */
  readonly choose: (field: keyof TransferValues, value: string) => void;
  /**
   * Changes the asset. Also changes the source chain when the wallet has none of the asset there,
   * and the destination chain when that chain does not have the asset.
   */
  readonly chooseAsset: (assetId: string) => void;
  /** The wallet's balance of an asset, on one chain or on all chains; null while it is unknown. */
  readonly held: (assetId: string, chainId?: string) => string | null;
  readonly spendable: Spendable;
  /** Assets sorted by the value of the wallet's balance, highest first. */
  readonly assets: readonly AssetInfo[];
}

/** The first values of the form: the token and chain of which the treasury holds the most value. */
const defaultsOf = (setup: SwapSetup): TransferValues => {
  const wallet = setup.treasury ?? setup.wallets[0];
  const richest =
    wallet === undefined ? undefined : holdingsOf({ ...setup, wallets: [wallet] }).find(isHeld);
  const chain = richest?.chainId ?? String(setup.chains[0]?.id ?? "");
  return {
    walletId: wallet?.id ?? "",
    assetId: richest?.info.assetId ?? "",
    fromChainId: chain,
    toChainId: chain,
    amount: "",
    toAddress: "",
  };
};

const heldBy = (
  setup: SwapSetup,
  wallet: WalletRecord | undefined,
  assetId: string,
  chainId: string,
): string | null => {
  const token = tokenOf(setup.tokens, assetId, chainId);
  if (wallet === undefined || token === undefined) return null;
  return balanceOf(setup.balances, { address: wallet.address, chainId, token: token.address });
};

/** The state of the transfer form. It survives a reload of the tab. */
export const useTransferForm = (setup: SwapSetup): TransferForm => {
  const { tokens } = setup;
  const form = useMoneyForm<TransferValues>({
    schema: useMemo(() => transferSchema(tokens), [tokens]),
    defaultsOf: () => defaultsOf(setup),
    isKnown: setup.balances !== undefined,
    linked: (search, current) => valuesOfTransferLink(setup, search, current),
    draft,
    isOwn: ({ walletId }) => setup.wallets.some(({ id }) => id === walletId),
  });
  const values = form.watch();
  const wallet = setup.wallets.find((one) => one.id === values.walletId);
  const held = (assetId: string, chainId?: string): string | null => {
    if (chainId !== undefined) return heldBy(setup, wallet, assetId, chainId);
    const chainIds = assetsOf(tokens).find((one) => one.assetId === assetId)?.chainIds ?? [];
    const parts = chainIds.map((id) => heldBy(setup, wallet, assetId, id));
    return parts.includes(null) ? null : sumAmounts(parts.filter((part) => part !== null));
  };
  const choose = (field: keyof TransferValues, value: string): void =>
    form.setValue(field, value, { shouldDirty: true, shouldTouch: true, shouldValidate: true });
  const chooseAsset = (assetId: string): void => {
    const chainIds = assetsOf(tokens).find((one) => one.assetId === assetId)?.chainIds ?? [];
    const { fromChainId, toChainId } = form.getValues();
    const here =
      chainIds.includes(fromChainId) &&
      compareAmounts(held(assetId, fromChainId) ?? "0", "0") === 1;
    if (!here)
      form.setValue(
        "fromChainId",
        richestChain(chainIds, (id) => held(assetId, id)),
      );
    if (!chainIds.includes(toChainId))
      form.setValue("toChainId", form.getValues("fromChainId"));
    choose("assetId", assetId);
  };
  const token = tokenOf(tokens, values.assetId, values.fromChainId);
  const spendable =
    wallet === undefined || token === undefined
      ? { amount: null, backing: null }
      : spendableAt(setup, {
          address: wallet.address,
          chainId: values.fromChainId,
          token: token.address,
        });
  // Only used for sorting, so a float is precise enough.
  const worth = ({ assetId, chainIds }: AssetInfo): number => {
    const price = tokenOf(tokens, assetId, chainIds[0] ?? "")?.priceUsd ?? null;
    return Number(usdValue(held(assetId) ?? "0", price) ?? 0);
  };
  const assets = [...assetsOf(tokens)].sort((one, other) => worth(other) - worth(one));
  return {
    form,
    values,
    wallet,
    body: toTransferBody(tokens, values),
    choose,
    chooseAsset,
    held,
    spendable,
    assets,
  };
};

const draft = tabStore(
  "causeway.transfer.draft",
  z.object({
    walletId: z.string(),
    assetId: z.string(),
    fromChainId: z.string(),
    toChainId: z.string(),
    amount: z.string(),
    toAddress: z.string(),
  }),
);

/**
 * Values of the form that a link sets, such as
 * `/transfer?token=USDC&chain=1&wallet=wal_…&amount=5&recipient=0x…`; null when it sets none.
 */
const valuesOfTransferLink = (
  setup: SwapSetup,
  search: string,
  defaults: TransferValues,
): TransferValues | null => {
  const query = new URLSearchParams(search);
  const wallet =
    setup.wallets.find(({ id }) => id === query.get("wallet")) ??
    setup.wallets.find(({ id }) => id === defaults.walletId);
  const tokens = tokensNamed(setup.tokens, query.get("token"), query.get("chain"));
  const recipient = query.get("recipient");
  if (wallet === undefined || (tokens.length === 0 && recipient === null)) return null;
  // Without a chain in the link, the chain with the largest balance of the token is used.
  const token = largestBy(
    tokens,
    ({ assetId, chainId }) => heldBy(setup, wallet, assetId, String(chainId)) ?? "0",
  );
  const chain = token && String(token.chainId);
  return {
    walletId: wallet.id,
    assetId: token?.assetId ?? defaults.assetId,
    fromChainId: chain ?? defaults.fromChainId,
    toChainId: chain ?? defaults.toChainId,
    amount: linkedAmount(query),
    toAddress: recipient ?? defaults.toAddress,
  };
};
