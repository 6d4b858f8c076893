"use client";

import { Eye } from "lucide-react";
import type { ReactNode } from "react";
import { isZero } from "@/components/features/swap/decimal";
import { Amount, HeldAmount } from "@/components/ui/amount";
import { ChainName, TokenMark } from "@/components/ui/marks";
import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  exportPrivacyWallet,
  getPrivateBalances,
  getPrivateTransfer,
  listPrivacyWallets,
  listPrivateExits,
} from "@/lib/contracts/privacy";
import type { quotePrivateSwap } from "@/lib/contracts/privacy-swap";
import { amountText } from "@/lib/core/amount-text";
import { setText } from "./observer/scenes";

/** `1,250.50 USDC`, short enough for a picture. */
export const pictureAmount = (amount: string, symbol: string, locale?: string): string =>
  `${amountText(amount, { symbol, locale }).text} ${symbol}`;

export const hasMoney = (pool: PoolBalance): boolean =>
  [pool.spendable, pool.pendingApproval, pool.inProof, pool.declined].some(
    (amount) => !isZero(amount),
  );

export const PoolName = ({
  chainId,
  token,
}: Pick<PoolBalance, "chainId" | "token">): ReactNode => (
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

interface HeldProps {
  readonly amount: string;
  readonly symbol: string;
  readonly strong?: boolean;
}

/** A balance; zero is muted and has no unit. */
export const Held = ({ amount, symbol, strong = false }: HeldProps): ReactNode =>
  isZero(amount) ? (
    <span className="text-fg-3">0</span>
  ) : (
    <HeldAmount value={amount} unit={symbol} className={strong ? "font-semibold" : ""} />
  );

interface TokenAmountProps {
  readonly value: PrivateTransfer["amount"];
  readonly whole?: boolean;
}

export const TokenAmountText = ({ value, whole = false }: TokenAmountProps): ReactNode => (
  <Amount value={value.amount} unit={value.token.symbol} exact={whole} />
);

const AmongDeposits = ({ size }: { readonly size: number | null }): ReactNode =>
  size === null ? (
    <span title="The chain or the provider does not answer now."> among –</span>
  ) : (
    <>
      {" "}
      among <strong className="font-medium text-fg">{setText(size)}</strong> now
    </>
  );

interface HonestyProps {
  readonly engine: string;
  /**
   * Number of deposits in the pool; null while it is unknown. Absent when the text is about several
   * pools.
   */
  readonly setSize?: number | null;
  readonly staysPublic: readonly string[];
}

export const Honesty = ({ engine, setSize, staysPublic }: HonestyProps): ReactNode => (
  <section aria-label="What stays public" className="flex flex-col gap-1.5 text-sm text-fg-2">
    <p>
      Proofs by {engine}
      {setSize === undefined ? null : <AmongDeposits size={setSize} />}.
    </p>
    <p className="flex items-center gap-1.5 font-medium text-fg">
      <Eye className="size-4 text-fg-3" aria-hidden /> What stays public
    </p>
    <ul className="list-disc pl-5">
      {staysPublic.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  </section>
);

export type PrivateBalances = ResponseOf<typeof getPrivateBalances>;

/** The balance of one private wallet in one pool. */
export type PoolBalance = PrivateBalances["data"][number];

export type PrivacyWallet = ResponseOf<typeof listPrivacyWallets>["data"][number];

/**
 * The answer to a request for a mnemonic: the mnemonic, or the votes that the request still needs.
 */
export type Exported = ResponseOf<typeof exportPrivacyWallet>;

export type PrivateTransfer = ResponseOf<typeof getPrivateTransfer>;

export type PrivateExit = ResponseOf<typeof listPrivateExits>["data"][number];

export type PrivateQuote = ResponseOf<typeof quotePrivateSwap>;

/** Identifies a pool in page addresses and selects. */
export const poolKey = ({ chainId, token }: Pick<PoolBalance, "chainId" | "token">): string =>
  `${String(chainId)}-${token.address}`;
