/** The request of an operation that spends notes: checked against pools and wallets, and read back from its stored transfer. */
import type { Actor } from "@/lib/core/actor";
import { invalidRequest } from "@/lib/core/errors";
import { bpsOfCeil, parseAmount } from "@/lib/core/money";
import type { PrivacyPool } from "@/lib/ports/privacy";
import type { EvmAddress } from "@/lib/ports/routing";
import type { PrivacyContext } from "./context";
import { belowMinimum, noPrivateRoute, noProcessor, priceMoved, smallSet } from "./errors";
import type { PrivateTransfer } from "./private-transfer";
import type { PrivateWallet } from "./private-wallet";

export type SpendKind = "unshield" | "private_transfer" | "private_swap";

/** A private operation that spends notes, with its pools and private wallets. */
export interface SpendRequest {
  readonly kind: SpendKind;
  readonly wallet: PrivateWallet;
  readonly pool: PrivacyPool;
  /** The pool of the token that arrives; the same as `pool` except in a swap. */
  readonly poolOut: PrivacyPool;
  /** The amount that arrives, or that a swap sells, in base units. */
  readonly amountBase: bigint;
  readonly toAddress: EvmAddress | null;
  readonly toWallet: PrivateWallet | null;
  readonly swap: { readonly path: `0x${string}`; readonly minimumBase: bigint; readonly outBase: bigint } | null;
}

export interface SpendInput {
  readonly chainId: number;
  readonly token: string;
  /** Decimal, in units of the token. */
  readonly amount: string;
  readonly toAddress?: EvmAddress | undefined;
  readonly toPrivacyWalletId?: string | undefined;
  readonly privacyWalletId?: string | undefined;
  readonly acceptSmallSet?: boolean | undefined;
}

/** The amounts that an operation's failed steps should have taken out of notes and brought, in base units. */
export interface FailedAmounts {
  readonly withdrawBase: bigint;
  readonly outBase: bigint;
}

/** @throws DomainError `small_anonymity_set` unless the caller accepts a small set */
export const requireAnonymitySet = async (
  context: PrivacyContext,
  { pool, wallet }: Pick<SpendRequest, "pool" | "wallet">,
  accepts: boolean,
): Promise<void> => {
  if (accepts || context.anonymitySetMin === 0) return;
  const { anonymitySet } = await context.holdings(context.privateWallets.keyOf(wallet), pool.chainId);
  const size = anonymitySet.get(pool.address) ?? 0;
  if (size < context.anonymitySetMin) throw smallSet(size, context.anonymitySetMin);
};

/** Checks a caller's request. @throws DomainError `unknown_pool`, `below_pool_minimum`, `unknown_privacy_wallet`, `invalid_request` */
export const readSpendRequest = async (
  context: PrivacyContext,
  actor: Actor,
  input: SpendInput,
  kind: SpendKind,
): Promise<SpendRequest> => {
  const { privateWallets } = context;
  const pool = await context.poolOf(input.chainId, input.token, "token");
  const amountBase = parseAmount(input.amount, pool.token.decimals);
  if (kind !== "unshield" && amountBase < pool.minimumBase) throw belowMinimum(pool.token, pool.minimumBase);
  const wallet = await privateWallets.choose(actor, input.privacyWalletId);
  const { toPrivacyWalletId } = input;
  const toWallet =
    toPrivacyWalletId === undefined
      ? null
      : await privateWallets.find(actor.projectId, toPrivacyWalletId, "toPrivacyWalletId");
  if (toWallet !== null && !pool.mayProcess) throw noProcessor();
  if (toWallet?.id === wallet.id) {
    const message = "must be another private wallet than the one that pays";
    throw invalidRequest([{ path: "toPrivacyWalletId", message }]);
  }
  return { kind, wallet, pool, poolOut: pool, amountBase, toAddress: input.toAddress ?? null, toWallet, swap: null };
};

/** The request of a stored transfer, with the present pools and wallets. */
export const storedSpendRequest = async (
  context: PrivacyContext,
  kind: SpendKind,
  transfer: PrivateTransfer,
): Promise<SpendRequest> => {
  const { projectId, chainId, path, minimumBase, toWalletId } = transfer;
  const [pool, poolOut] = await Promise.all([
    context.poolOf(chainId, transfer.token.address, "token"),
    context.poolOf(chainId, transfer.tokenOut.address, "token"),
  ]);
  const walletOf = (id: string) => context.privateWallets.find(projectId, id, "privacyWalletId");
  return {
    kind,
    wallet: await walletOf(transfer.walletId),
    pool,
    poolOut,
    amountBase: transfer.amountBase,
    toAddress: transfer.toAddress,
    toWallet: toWalletId === null ? null : await walletOf(toWalletId),
    swap: path === null || minimumBase === null ? null : { path, minimumBase, outBase: minimumBase },
  };
};

/**
 * Prices the failed part of a swap anew, with the minimum that was promised for it. The fee is rounded up.
 * @throws DomainError `no_route`, `quote_price_moved`
 */
export const repriceSwap = async (
  { engine }: PrivacyContext,
  { pool, poolOut }: SpendRequest,
  failed: FailedAmounts,
): Promise<NonNullable<SpendRequest["swap"]>> => {
  const amountBase = failed.withdrawBase - bpsOfCeil(failed.withdrawBase, pool.relayFeeBps);
  const price = await engine.priceSwap({ from: pool.token, to: poolOut.token, amountBase });
  if (price === null) throw noPrivateRoute(pool.token, poolOut.token);
  if (price.outBase < failed.outBase) throw priceMoved();
  return { path: price.path, minimumBase: failed.outBase, outBase: price.outBase };
};
