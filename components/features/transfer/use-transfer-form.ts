"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useEffect, useMemo, useState } from "react";
import { useForm, type UseFormReturn } from "react-hook-form";
import type { Spendable } from "@/components/features/money-flow/spendable";
import { compareAmounts, sumAmounts, usdValue } from "@/components/features/swap/decimal";
import { balanceOf, spendableAt, type SwapSetup } from "@/components/features/swap/use-swap-setup";
import type { WalletRecord } from "@/components/features/wallets/use-wallets";
import {
  assetsOf,
  tokenOf,
  toTransferBody,
  transferSchema,
  type AssetInfo,
  type TransferBody,
  type TransferValues,
} from "./form-model";
import { readTransferDraft, saveTransferDraft, valuesOfTransferLink } from "./kept-values";

export interface TransferForm {
  readonly form: UseFormReturn<TransferValues>;
  readonly values: TransferValues;
  readonly wallet: WalletRecord | undefined;
  /** Null until the form is complete and right. */
  readonly body: TransferBody | null;
  /** Sets a field that is no text input, and checks it. */
  readonly choose: (field: keyof TransferValues, value: string) => void;
  /** Changes the token, and with it the chains where it is not. */
  readonly chooseAsset: (assetId: string) => void;
  /** The wallet's balance of an asset, on one chain or over all; null while it is not known. */
  readonly held: (assetId: string, chainId?: string) => string | null;
  /** Of the chosen token in the chosen wallet on the chosen chain. */
  readonly spendable: Spendable;
  /** Assets in the order of the wallet's holdings by worth, the highest first. */
  readonly assets: readonly AssetInfo[];
}

const defaultsOf = (setup: SwapSetup): TransferValues => {
  const chain = String(setup.chains[0]?.id ?? "");
  return {
    walletId: setup.treasury?.id ?? setup.wallets[0]?.id ?? "",
    assetId: "",
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

/** Where most of the asset lies; the first chain that has the asset when nothing is known or nothing is there. */
const richestChain = (chainIds: readonly string[], held: (chainId: string) => string | null): string =>
  chainIds.reduce((best, chainId) => {
    const [here, there] = [held(chainId) ?? "0", held(best) ?? "0"];
    return compareAmounts(here, there) === 1 ? chainId : best;
  }, chainIds[0] ?? "");

/** As on the swap page: the link by which the page was opened, else what was typed before; then what is typed is kept. */
const useKeptValues = (setup: SwapSetup, form: UseFormReturn<TransferValues>, text: string): void => {
  const [isRead, setIsRead] = useState(false);
  useEffect(() => {
    const linked = valuesOfTransferLink(setup, window.location.search, form.getValues());
    const values = linked ?? readTransferDraft(setup.wallets.map((wallet) => wallet.id));
    if (values !== null) form.reset(values);
    if (linked !== null) window.history.replaceState(null, "", window.location.pathname);
    setIsRead(true);
  }, []);
  useEffect(() => {
    if (isRead) saveTransferDraft(JSON.parse(text) as TransferValues);
  }, [isRead, text]);
};

/** The typed state of the transfer page. Survives a reload of the tab. */
export const useTransferForm = (setup: SwapSetup): TransferForm => {
  const { tokens } = setup;
  const resolver = useMemo(() => zodResolver(transferSchema(tokens)), [tokens]);
  const form = useForm<TransferValues>({
    resolver,
    mode: "onTouched",
    defaultValues: useMemo(() => defaultsOf(setup), []),
  });
  const values = form.watch();
  useKeptValues(setup, form, JSON.stringify(values));
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
    const here = chainIds.includes(fromChainId) && compareAmounts(held(assetId, fromChainId) ?? "0", "0") === 1;
    if (!here)
      form.setValue(
        "fromChainId",
        richestChain(chainIds, (id) => held(assetId, id)),
      );
    if (!chainIds.includes(toChainId)) form.setValue("toChainId", form.getValues("fromChainId"));
    choose("assetId", assetId);
  };
  const token = tokenOf(tokens, values.assetId, values.fromChainId);
  const spendable =
    wallet === undefined || token === undefined
      ? { amount: null, backing: null }
      : spendableAt(setup, { address: wallet.address, chainId: values.fromChainId, token: token.address });
  // An order is no amount, so a float does.
  const worth = ({ assetId, chainIds }: AssetInfo): number => {
    const price = tokenOf(tokens, assetId, chainIds[0] ?? "")?.priceUsd ?? null;
    return Number(usdValue(held(assetId) ?? "0", price) ?? 0);
  };
  const assets = [...assetsOf(tokens)].sort((one, other) => worth(other) - worth(one));
  return { form, values, wallet, body: toTransferBody(tokens, values), choose, chooseAsset, held, spendable, assets };
};
