"use client";

import type { ReactNode } from "react";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { HeldAmount } from "@/components/ui/held-amount";
import { TokenMark } from "@/components/ui/marks";
import { amountText } from "@/lib/core/amount-text";
import type { PoolBalance, PrivateTransfer } from "./types";

/** `1,250.50 USDC`, short enough for a picture. */
export const pictureAmount = (amount: string, symbol: string, locale?: string): string =>
  `${amountText(amount, { symbol, locale }).text} ${symbol}`;

export const isZero = (amount: string): boolean => !/[1-9]/.test(amount);

export const hasMoney = (pool: PoolBalance): boolean =>
  [pool.spendable, pool.pendingApproval, pool.inProof, pool.declined].some((amount) => !isZero(amount));

/** A token on its chain, with its mark. */
export const PoolName = ({ chainId, token }: Pick<PoolBalance, "chainId" | "token">): ReactNode => (
  <span className="inline-flex min-w-0 items-center gap-2">
    <TokenMark symbol={token.symbol} />
    <span className="min-w-0">
      {token.symbol} <span className="font-normal text-fg-3">on</span>{" "}
      <span className="font-normal text-fg-2">
        <ChainName chainId={chainId} />
      </span>
    </span>
  </span>
);

/** A balance; a dash for zero. */
export const Held = ({
  amount,
  symbol,
  strong = false,
}: {
  amount: string;
  symbol: string;
  strong?: boolean;
}): ReactNode =>
  isZero(amount) ? (
    <span className="text-fg-3">0</span>
  ) : (
    <HeldAmount value={amount} unit={symbol} className={strong ? "font-semibold" : ""} />
  );

type TokenAmount = PrivateTransfer["amount"];

export const TokenAmountText = ({
  value,
  whole = false,
}: {
  readonly value: TokenAmount;
  readonly whole?: boolean;
}): ReactNode => <Amount value={value.amount} unit={value.token.symbol} exact={whole} />;
