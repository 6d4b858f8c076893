import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import type { Tx } from "@/lib/db/client";
import { sqlOf } from "@/lib/db/sql";
import { doneBy } from "@/lib/modules/audit/service";
import type { LeglessOperation } from "@/lib/modules/operations/service";
import { keysAmong, type Intent } from "@/lib/modules/policies/service";
import { chooseNotes } from "./choose-notes";
import { digestOf, type PrivacyContext } from "./context";
import { noteInUse, TakenError } from "./errors";
import { idempotencyColumns, type IdempotentRequest } from "./idempotency";
import type { PrivateTransfer } from "./private-transfer";
import { retryWhenTaken } from "./retry-when-taken";
import { spendDigest } from "./spend-parameters";
import {
  readSpendRequest,
  repriceSwap,
  requireAnonymitySet,
  storedSpendRequest,
  type FailedAmounts,
  type SpendInput,
  type SpendKind,
  type SpendRequest,
} from "./spend-request";
import { QUEUE, type NewSpend } from "./spend-repository";

const APPROVAL_SECONDS = 24 * 3600;

/** Why an operation is started, and by which call. */
interface Origin {
  readonly idempotency: IdempotentRequest | null;
  /** The quote of a swap, which is used with it. */
  readonly quote: NewSpend["quote"];
  /** The failed operation whose missing part it pays. */
  readonly retryOf: string | null;
}

interface NewIds {
  readonly id: string;
  readonly operationId: string;
}

const stored = (id: string | null): string => {
  if (id === null) throw new Error("A private operation was not stored.");
  return id;
};

/** Chooses again while other operations take the chosen notes or numbers. @throws DomainError `note_spent` */
const whileNotesAreTaken = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await retryWhenTaken(work);
  } catch (error) {
    if (error instanceof TakenError) throw noteInUse();
    throw error;
  }
};

const operationOf =
  (
    { clock }: PrivacyContext,
    actor: Actor,
    request: SpendRequest,
    own: NewIds & { readonly grossBase: bigint; readonly origin: Origin },
  ) =>
  (runs: boolean): LeglessOperation => {
    const { pool, poolOut, amountBase, swap, toAddress, kind } = request;
    const codeId = own.origin.quote?.codeId ?? null;
    return {
      id: own.operationId,
      projectId: actor.projectId,
      kind,
      queue: QUEUE,
      request: {
        sources: [{ owner: pool.address, token: pool.token, amountBase: own.grossBase }],
        destination: { token: poolOut.token, recipient: toAddress ?? poolOut.address },
        slippageBps: 0,
      },
      expectedBase: swap === null ? amountBase : swap.outBase,
      minimumBase: swap === null ? amountBase : swap.minimumBase,
      // The recipient is left out, so that a search for an address finds no private operation.
      searchTerms: [`chain:${String(pool.chainId)}`, `token:${pool.token.symbol.toLowerCase()}`, own.id],
      createdBy: actorName(actor),
      approvalUntil: runs ? null : addSeconds(clock.now(), APPROVAL_SECONDS),
      retryOf: own.origin.retryOf,
      audit: {
        ...doneBy(actor),
        action: runs ? "operation.executed" : "operation.requested",
        data: { kind, ...(runs ? { means: codeId === null ? "policy" : "code", codeId } : {}) },
      },
    };
  };

const transferOf = (
  { clock }: PrivacyContext,
  actor: Actor,
  request: SpendRequest,
  { id, operationId, origin }: NewIds & { readonly origin: Origin },
): PrivateTransfer => {
  const { kind, wallet, pool, poolOut, amountBase, toAddress, toWallet, swap } = request;
  const { projectId } = actor;
  const approved = [kind, projectId, wallet.id, pool.chainId, pool.address, poolOut.address, amountBase];
  return {
    projectId,
    id,
    operationId,
    kind,
    walletId: wallet.id,
    toWalletId: toWallet?.id ?? null,
    toAddress,
    chainId: pool.chainId,
    token: pool.token,
    tokenOut: poolOut.token,
    amountBase,
    noteId: null,
    path: swap?.path ?? null,
    minimumBase: swap?.minimumBase ?? null,
    digest: digestOf([...approved, toAddress, toWallet?.id, swap]),
    ...idempotencyColumns(origin.idempotency),
    createdBy: actorName(actor),
    createdAt: clock.now(),
  };
};

/**
 * Stores the operation. It runs at once when the actor's policy allows that, or when a code has approved its quote.
 * @returns the transfer's id; null when the quote was used already
 * @throws DomainError `insufficient_balance`, `note_spent`, `invalid_state`
 */
const start = (context: PrivacyContext, actor: Actor, request: SpendRequest, origin: Origin): Promise<string | null> =>
  whileNotesAreTaken(async () => {
    const steps = await chooseNotes(context, request);
    const ids = { id: newId("transfer"), operationId: newId("operation") };
    const codeId = origin.quote?.codeId ?? null;
    const grossBase = steps.reduce((sum, { withdrawBase }) => sum + withdrawBase, 0n);
    const admit =
      codeId === null ? await context.admission(actor, request.pool.token, grossBase) : () => Promise.resolve(true);
    const intent = intentOf(actor, { ...request, token: request.pool.token, chainId: request.pool.chainId, grossBase });
    if (codeId === null && context.policies.needsCode(actor))
      await context.policyEngine.refuse(intent, { canWait: false });
    const spend: NewSpend = {
      operation: operationOf(context, actor, request, { ...ids, grossBase, origin }),
      transfer: transferOf(context, actor, request, { ...ids, origin }),
      steps,
      quote: origin.quote,
    };
    const subject = { type: "operation", id: ids.operationId, digest: spendDigest(spend.transfer, steps) } as const;
    const isStored = await context.policyEngine.checking(intent, (check) =>
      context.repository.insertSpend(
        spend,
        async (tx) => ((await admit(tx)) ? check.enforce(sqlOf(tx), subject, { hasCode: codeId !== null }) : null),
        context.clock.now(),
      ),
    );
    return isStored ? ids.id : null;
  });

/**
 * Pays out of notes: to an address, or as a new note of another private wallet.
 * @returns the transfer's id
 * @throws DomainError `small_anonymity_set`, `insufficient_balance`, `unknown_pool`, `below_pool_minimum`, …
 */
const create = async (
  context: PrivacyContext,
  actor: Actor,
  input: SpendInput & { readonly kind: "unshield" | "private_transfer" },
  idempotency: IdempotentRequest | null,
): Promise<string> => {
  const request = await readSpendRequest(context, actor, input, input.kind);
  if (input.kind === "private_transfer") await requireAnonymitySet(context, request, input.acceptSmallSet === true);
  return stored(await start(context, actor, request, { idempotency, quote: null, retryOf: null }));
};

const spendKindOf = ({ kind, id }: PrivateTransfer): SpendKind => {
  if (kind === "shield" || kind === "public_exit") throw new Error(`${id} spends no notes.`);
  return kind;
};

/**
 * Pays the failed part of an operation out of the present notes. The part may be below a pool's minimum, because the whole was not.
 * @returns the new transfer's id
 * @throws DomainError `insufficient_balance`, `no_route`, `quote_price_moved`, …
 */
const retry = async (
  context: PrivacyContext,
  actor: Actor,
  transfer: PrivateTransfer,
  failed: FailedAmounts,
): Promise<string> => {
  const request = await storedSpendRequest(context, spendKindOf(transfer), transfer);
  const swap = request.swap === null ? null : await repriceSwap(context, request, failed);
  const amountBase = swap === null ? failed.outBase : failed.withdrawBase;
  const origin = { idempotency: null, quote: null, retryOf: transfer.operationId };
  return stored(await start(context, actor, { ...request, amountBase, swap }, origin));
};

/** Lets an operation run that awaited approval, with the present notes. False when it does not await approval any more. */
const approve = (context: PrivacyContext, actor: Actor, transfer: PrivateTransfer, codeId: string): Promise<boolean> =>
  whileNotesAreTaken(async () => {
    const request = await storedSpendRequest(context, spendKindOf(transfer), transfer);
    const steps = await chooseNotes(context, request);
    const { kind } = transfer;
    const audit = { ...doneBy(actor), action: "operation.approved", data: { kind, means: "code", codeId } };
    const grossBase = steps.reduce((sum, { withdrawBase }) => sum + withdrawBase, 0n);
    const digest = spendDigest(transfer, steps);
    return context.policyEngine.checking(intentOf(actor, { ...transfer, grossBase }), (check) => {
      const enforce = async (tx: Tx): Promise<string> => {
        const subject = { type: "operation", id: transfer.operationId, digest } as const;
        const evaluationId = await check.enforce(sqlOf(tx), subject, { hasCode: true });
        if (evaluationId === null) throw new Error("A code was given, and yet one is needed.");
        return evaluationId;
      };
      return context.repository.approveSpend(transfer, steps, { audit, enforce }, context.clock.now());
    });
  });

/** What the policies decide on: all that leaves the notes, and the address that is paid, if any. */
const intentOf = (
  actor: Actor,
  spent: Pick<PrivateTransfer, "kind" | "chainId" | "token" | "toAddress"> & {
    readonly grossBase: bigint;
    readonly createdBy?: string;
  },
): Intent => ({
  projectId: actor.projectId,
  kind: spent.kind,
  by: actorName(actor),
  keyIds: keysAmong(actorName(actor), ...(spent.createdBy === undefined ? [] : [spent.createdBy])),
  outflows: [{ walletId: null, token: spent.token, amountBase: spent.grossBase, isOnChain: true }],
  chains: [spent.chainId],
  recipients: spent.toAddress === null ? [] : [spent.toAddress],
  fields: { amount: "amount", recipient: "toAddress", chain: "chainId", token: "token" },
});

/** The lines of the message that carries the one-time code. */
const approvalLines = ({ registry }: PrivacyContext, transfer: PrivateTransfer): string[] => {
  const { token, tokenOut, minimumBase } = transfer;
  const amount = `${formatAmount(transfer.amountBase, token.decimals)} ${token.symbol}`;
  const chain = registry.get(transfer.chainId).name;
  if (minimumBase !== null)
    return [
      `You swap privately: ${amount} on ${chain}`,
      `You receive at least: ${formatAmount(minimumBase, tokenOut.decimals)} ${tokenOut.symbol}`,
    ];
  return [`You send privately: ${amount} on ${chain}`, `To: ${transfer.toAddress ?? transfer.toWalletId ?? ""}`];
};

export const spends = { start, create, retry, approve, approvalLines };
