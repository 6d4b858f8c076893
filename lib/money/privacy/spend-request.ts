import { grossForAddress, grossForNote, netOf } from "@/lib/core/fees";
import { type Actor, actorName } from "@/lib/core/actor";
import { invalidRequest } from "@/lib/core/errors";
import { bpsOfCeil, parseAmount } from "@/lib/core/money";
import type { PrivacyPool } from "@/lib/money/ports/privacy";
import type { EvmAddress } from "@/lib/core/evm";
import type { PrivacyContext } from "./context";
import {
  belowMinimum,
  insufficientPrivate,
  noPrivateRoute,
  noProcessor,
  priceMoved,
  smallSet,
} from "./errors";
import {
  type PrivateStep,
  type PrivateTransfer,
  type PrivateWallet,
  recipientsOf,
} from "./rows";
import type { NewStep } from "./step-repository";
import { createHash } from "node:crypto";
import { type Intent, isExemptKey, keysAmong } from "@/lib/trust/policies/service";

interface SpendableNote {
  readonly id: string;
  readonly valueBase: bigint;
}

interface PlannedSpend {
  readonly noteId: string;
  /** In base units of the note's token. */
  readonly withdrawBase: bigint;
  /** The part of `withdrawBase` that the recipient gets, in base units. */
  readonly outBase: bigint;
}

/**
 * Chooses the notes that pay `amountBase` to the recipient: the smallest single note that suffices,
 * otherwise the largest notes first. Each withdrawal spends one note, so fewer notes take less time
 * and disclose less.
 * @param options `grossOf`: the withdrawal, fees included, for a net amount; `minimumBase`: the
 * pool's minimum for each part; all in base units
 * @returns null when all notes together do not suffice
 */
export const planSpends = (
  notes: readonly SpendableNote[],
  amountBase: bigint,
  { grossOf, minimumBase = 1n }: { grossOf: (net: bigint) => bigint; minimumBase?: bigint },
): PlannedSpend[] | null => {
  const rising = [...notes].sort((one, other) =>
    one.valueBase < other.valueBase ? -1 : one.valueBase > other.valueBase ? 1 : 0,
  );
  const alone = rising.find(({ valueBase }) => valueBase >= grossOf(amountBase));
  if (alone !== undefined)
    return [{ noteId: alone.id, withdrawBase: grossOf(amountBase), outBase: amountBase }];
  const parts: { noteId: string; outBase: bigint }[] = [];
  let left = amountBase;
  for (const { id, valueBase } of rising.reverse()) {
    if (left === 0n) break;
    const most = netOf(valueBase, grossOf);
    if (most < minimumBase) break;
    const outBase = most < left ? most : left;
    parts.push({ noteId: id, outBase });
    left -= outBase;
  }
  const [last, before] = [parts.at(-1), parts.at(-2)];
  if (left > 0n || last === undefined) return null;
  if (last.outBase < minimumBase && before !== undefined) {
    const missing = minimumBase - last.outBase;
    if (before.outBase - missing < minimumBase) return null;
    last.outBase += missing;
    before.outBase -= missing;
  }
  return parts.map((part) => ({ ...part, withdrawBase: grossOf(part.outBase) }));
};

// The request of an operation that spends notes. It is checked against pools and wallets, or
// restored from its stored transfer.

export type SpendKind = "unshield" | "private_transfer" | "private_swap";

export interface SpendRequest {
  readonly kind: SpendKind;
  readonly wallet: PrivateWallet;
  readonly pool: PrivacyPool;
  /** The pool of the token that arrives; differs from `pool` only in a swap. */
  readonly poolOut: PrivacyPool;
  /** The amount that arrives, or that a swap sells, in base units. */
  readonly amountBase: bigint;
  readonly toAddress: EvmAddress | null;
  readonly toWallet: PrivateWallet | null;
  readonly swap: {
    readonly path: `0x${string}`;
    readonly minimumBase: bigint;
    readonly outBase: bigint;
  } | null;
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

/**
 * The amounts that an operation's failed steps should have withdrawn and delivered, in base units.
 */
export interface FailedAmounts {
  readonly withdrawBase: bigint;
  readonly outBase: bigint;
}

/**
 * Checks that a withdrawal from the pool hides among enough deposits.
 * @throws DomainError `small_anonymity_set` unless the caller accepts a small set
 */
export const requireAnonymitySet = async (
  context: PrivacyContext,
  { pool, wallet }: Pick<SpendRequest, "pool" | "wallet">,
  accepts: boolean,
): Promise<void> => {
  if (accepts || context.anonymitySetMin === 0) return;
  const { anonymitySet } = await context.holdings(
    context.privateWallets.keyOf(wallet),
    pool.chainId,
  );
  const size = anonymitySet.get(pool.address) ?? 0;
  if (size < context.anonymitySetMin) throw smallSet(size, context.anonymitySetMin);
};

/**
 * Checks a caller's request, and finds its pool and its wallets.
 * @throws DomainError `unknown_pool`, `below_pool_minimum`, `unknown_privacy_wallet`,
 * `invalid_request`
 */
export const readSpendRequest = async (
  context: PrivacyContext,
  actor: Actor,
  input: SpendInput,
  kind: SpendKind,
): Promise<SpendRequest> => {
  const { privateWallets } = context;
  const pool = await context.poolOf(input.chainId, input.token, "token");
  const amountBase = parseAmount(input.amount, pool.token.decimals);
  if (kind !== "unshield" && amountBase < pool.minimumBase)
    throw belowMinimum(pool.token, pool.minimumBase);
  const wallet = await privateWallets.choose(actor, input.privacyWalletId);
  const { toPrivacyWalletId, toAddress } = input;
  if (toAddress !== undefined)
    context.recipients.require([{ path: "toAddress", address: toAddress }], [input.chainId]);
  const toWallet =
    toPrivacyWalletId === undefined
      ? null
      : await privateWallets.find(actor.projectId, toPrivacyWalletId, "toPrivacyWalletId");
  if (toWallet !== null && !pool.mayProcess) throw noProcessor();
  if (toWallet?.id === wallet.id) {
    const message = "must be another private wallet than the one that pays";
    throw invalidRequest([{ path: "toPrivacyWalletId", message }]);
  }
  return {
    kind,
    wallet,
    pool,
    poolOut: pool,
    amountBase,
    toAddress: toAddress ?? null,
    toWallet,
    swap: null,
  };
};

/** The request of a stored transfer, with the current pools and wallets. */
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
  const walletOf = (id: string) =>
    context.privateWallets.find(projectId, id, "privacyWalletId");
  return {
    kind,
    wallet: await walletOf(transfer.walletId),
    pool,
    poolOut,
    amountBase: transfer.amountBase,
    toAddress: transfer.toAddress,
    toWallet: toWalletId === null ? null : await walletOf(toWalletId),
    swap:
      path === null || minimumBase === null
        ? null
        : { path, minimumBase, outBase: minimumBase },
  };
};

/**
 * Prices the failed part of a swap again. The relayer's fee is rounded up. The promised minimum
 * does not change, so the function fails when the new price is below it.
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

// Chooses the notes that an operation spends, and the deposit numbers of its new notes.

/**
 * Returns the amount in base units that has to leave notes, fees included, so that a net amount
 * arrives.
 */
const grossOf = ({ kind, pool, toWallet }: SpendRequest): ((netBase: bigint) => bigint) => {
  if (kind === "private_swap") return (netBase) => netBase;
  return toWallet === null
    ? (netBase) => grossForAddress(netBase, pool.relayFeeBps)
    : (netBase) => grossForNote(netBase, pool);
};

/**
 * The missing amount for the error message. It is at least 1, because notes with a sufficient sum
 * can still be too small for the pool's minimum.
 */
const missingBase = (
  grossBase: bigint,
  notes: readonly { readonly valueBase: bigint }[],
): bigint => {
  const missing = grossBase - notes.reduce((sum, { valueBase }) => sum + valueBase, 0n);
  return missing > 0n ? missing : 1n;
};

/**
 * Chooses the notes that pay the request, among the wallet's spendable notes that are not in use.
 * @throws DomainError `insufficient_balance`
 */
const planOf = async (
  context: PrivacyContext,
  request: SpendRequest,
): Promise<PlannedSpend[]> => {
  const { wallet, pool, amountBase, toWallet, kind } = request;
  const held = await context.holdings(context.privateWallets.keyOf(wallet), pool.chainId);
  const used = await context.repository.notesInUse(wallet.projectId, pool.chainId);
  const notes = held.notes.filter(
    ({ state, token, id }) =>
      state === "approved" && token.address === pool.token.address && !used.has(id),
  );
  const gross = grossOf(request);
  const needsMinimum = toWallet !== null || kind === "private_swap";
  const plan = planSpends(notes, amountBase, {
    grossOf: gross,
    minimumBase: needsMinimum ? pool.minimumBase : 1n,
  });
  if (plan === null)
    throw insufficientPrivate(pool.token, missingBase(gross(amountBase), notes));
  return plan;
};

/**
 * The steps of an operation, with notes and deposit numbers that are free now.
 * @throws DomainError `insufficient_balance`, `invalid_state`
 */
export const chooseNotes = async (
  context: PrivacyContext,
  request: SpendRequest,
): Promise<NewStep[]> => {
  const plan = await planOf(context, request);
  const { toWallet, poolOut, swap, amountBase } = request;
  const numbers =
    toWallet === null
      ? []
      : await context.freeNumbers(
          {
            projectId: toWallet.projectId,
            key: context.privateWallets.keyOf(toWallet),
            pool: poolOut,
          },
          plan.length,
        );
  return plan.map(({ noteId, withdrawBase, outBase }, index) => ({
    noteId,
    withdrawBase,
    // Each note's share of a swap's minimum is rounded up, so that the sum is at least the promised
    // minimum.
    outBase:
      swap === null ? outBase : (swap.minimumBase * outBase + amountBase - 1n) / amountBase,
    slot:
      toWallet === null
        ? null
        : { walletId: toWallet.id, pool: poolOut.address, number: numbers[index] ?? 0 },
  }));
};

// The parameters to which the policy evaluation of a spend is bound. They are compared before a
// proof is made.

type Step = Pick<PrivateStep, "noteId" | "withdrawBase" | "outBase">;

/**
 * SHA-256 of the wallets, chain, tokens, amounts, recipient and notes.
 * @param steps in the order of their positions
 */
export const spendDigest = (
  transfer: PrivateTransfer,
  steps: readonly Step[],
): Uint8Array<ArrayBuffer> => {
  const {
    projectId,
    operationId,
    kind,
    walletId,
    toWalletId,
    toAddress,
    chainId,
    token,
    tokenOut,
  } = transfer;
  const parties = [
    projectId,
    operationId,
    kind,
    walletId,
    toWalletId,
    toAddress?.toLowerCase() ?? null,
  ];
  const amounts = [
    transfer.amountBase.toString(),
    transfer.path,
    transfer.minimumBase?.toString() ?? null,
  ];
  const notes = steps.map(({ noteId, withdrawBase, outBase }) => [
    noteId,
    withdrawBase.toString(),
    outBase.toString(),
  ]);
  const text = JSON.stringify([
    parties,
    chainId,
    token.address,
    tokenOut.address,
    amounts,
    notes,
  ]);
  return new Uint8Array(createHash("sha256").update(text).digest());
};

/**
 * The intent for the policies: the total that leaves the notes, and the recipient, which is an
 * address, or a private wallet whose mnemonic was shown.
 */
export const intentOf = (
  actor: Actor,
  spent: Pick<PrivateTransfer, "kind" | "chainId" | "token" | "toAddress"> & {
    readonly grossBase: bigint;
    /** The private wallet that gets the new note; null when an address is paid. */
    readonly toWallet: PrivateWallet | null;
    readonly createdBy?: string;
  },
): Intent => {
  const { toAddress, toWallet, chainId } = spent;
  const addresses = toAddress === null ? [] : [toAddress];
  const wallets = toWallet === null ? [] : recipientsOf(toWallet);
  return {
    projectId: actor.projectId,
    kind: spent.kind,
    by: actorName(actor),
    keyIds: keysAmong(
      actorName(actor),
      ...(spent.createdBy === undefined ? [] : [spent.createdBy]),
    ),
    byExemptKey: isExemptKey(actor),
    outflows: [
      { walletId: null, token: spent.token, amountBase: spent.grossBase, isOnChain: true },
    ],
    chains: [chainId],
    recipients: [...addresses, ...wallets],
    recipientChain: chainId,
    parties: addresses.map((address) => ({ address, chainId })),
    fields: { amount: "amount", recipient: "toAddress", chain: "chainId", token: "token" },
  };
};
